/**
 * Reads the bytes of a core module into a `Module`.
 *
 * 1. No input makes it read out of bounds, allocate more than a constant times the input, recurse, or throw
 *    anything but a `CaissonError`: `invalid_module` with an offset, or `unsupported_feature` by name.
 * 2. Every index outside of code is checked here, every index in code by `decodeBody`.
 * 3. It is no validator: operand types, limits of engines and duplicate names are the engine's business.
 */
import { ByteReader } from './byte-reader.ts'
import { type ConstantContext, readConstantExpression } from './constant-expression.ts'
import type {
  ConstantExpression,
  CustomSection,
  DataSegment,
  ElementSegment,
  Export,
  ExternKind,
  FunctionBody,
  FunctionType,
  Global,
  GlobalType,
  Import,
  ImportType,
  Limits,
  Module,
  SegmentMode,
  Table,
  TableType,
} from './module.ts'
import { invalidModule, unsupportedFeature } from './module-error.ts'
import { readLimits } from './read-limits.ts'
import { MAGIC, SECTION, SECTION_ORDER } from './section.ts'
import { FUNCREF, isReference, readValueType, type ValueType } from './value-type.ts'

const EXTERN_KINDS: readonly ExternKind[] = ['function', 'table', 'memory', 'global', 'tag']
const FUNCTION_TYPE = 0x60
const COMPONENT_LAYER = 0x01

/** Parses a core module. Function bodies and constant expressions stay bytes (views of `bytes`). */
export function parseModule(bytes: Uint8Array): Module {
  return new ModuleParser(bytes).parse()
}

class ModuleParser {
  readonly #reader: ByteReader
  readonly #types: FunctionType[] = []
  readonly #imports: Import[] = []
  readonly #functions: number[] = []
  readonly #bodies: FunctionBody[] = []
  readonly #tables: Table[] = []
  readonly #memories: Limits[] = []
  readonly #tags: number[] = []
  readonly #globals: Global[] = []
  readonly #exports: Export[] = []
  readonly #elements: ElementSegment[] = []
  readonly #data: DataSegment[] = []
  readonly #customs: CustomSection[] = []
  /** Sizes of the index spaces so far, imports included. */
  readonly #spaces: Record<ExternKind, number> = { function: 0, table: 0, memory: 0, global: 0, tag: 0 }
  #start: number | undefined
  #dataCount: number | undefined

  constructor(bytes: Uint8Array) {
    this.#reader = new ByteReader(bytes)
  }

  parse(): Module {
    this.#header()
    let rank = -1
    let after: number = SECTION.custom
    while (!this.#reader.done) {
      const offset = this.#reader.offset
      const id = this.#reader.byte()
      const section = this.#reader.section(this.#reader.u32())
      if (id === SECTION.custom) {
        const name = section.name()
        this.#customs.push({ name, bytes: section.take(section.end - section.position), after })
        continue
      }
      const nextRank = SECTION_ORDER.indexOf(id)
      if (nextRank < 0) throw invalidModule(`Unknown section ${id}`, offset)
      if (nextRank <= rank) throw invalidModule(`Section ${id} is out of order or repeated`, offset)
      rank = nextRank
      after = id
      this.#section(id, section)
      if (!section.done) throw invalidModule(`Section ${id} is longer than its content`, section.offset)
    }
    return this.#finish()
  }

  #header(): void {
    for (const [index, expected] of MAGIC.entries()) {
      if (this.#reader.byte() === expected) continue
      const bytes = this.#reader.bytes
      if (index >= 4 && bytes[6] === COMPONENT_LAYER) {
        throw invalidModule('This is a component, not a core module', index)
      }
      throw invalidModule('Not a WebAssembly module of version 1', index)
    }
  }

  #finish(): Module {
    if (this.#bodies.length !== this.#functions.length) {
      throw invalidModule('Functions and bodies differ in number', this.#reader.offset)
    }
    if (this.#dataCount !== undefined && this.#dataCount !== this.#data.length) {
      throw invalidModule('The data count is wrong', this.#reader.offset)
    }
    return {
      types: this.#types,
      imports: this.#imports,
      functions: this.#functions,
      bodies: this.#bodies,
      tables: this.#tables,
      memories: this.#memories,
      tags: this.#tags,
      globals: this.#globals,
      exports: this.#exports,
      ...(this.#start === undefined ? {} : { start: this.#start }),
      elements: this.#elements,
      dataCount: this.#dataCount !== undefined,
      data: this.#data,
      customs: this.#customs,
    }
  }

  #section(id: number, r: ByteReader): void {
    switch (id) {
      case SECTION.type:
        this.#each(r, 1, () => this.#types.push(this.#functionType(r)))
        break
      case SECTION.import:
        this.#each(r, 4, () => this.#imports.push(this.#import(r)))
        break
      case SECTION.function:
        this.#each(r, 1, () => {
          this.#functions.push(this.#functionTypeIndex(r))
          this.#spaces.function++
        })
        break
      case SECTION.table:
        this.#each(r, 3, () => {
          this.#tables.push(this.#table(r))
          this.#spaces.table++
        })
        break
      case SECTION.memory:
        this.#each(r, 2, () => {
          this.#memories.push(readLimits(r, 'memory'))
          this.#spaces.memory++
        })
        break
      case SECTION.tag:
        this.#each(r, 2, () => {
          this.#tags.push(this.#tagType(r))
          this.#spaces.tag++
        })
        break
      case SECTION.global:
        this.#each(r, 3, () => {
          this.#globals.push({ type: this.#globalType(r), init: this.#constant(r) })
          this.#spaces.global++
        })
        break
      case SECTION.export:
        this.#each(r, 3, () => this.#exports.push(this.#export(r)))
        break
      case SECTION.start:
        this.#start = this.#index(r, 'function')
        break
      case SECTION.element:
        this.#each(r, 2, () => this.#elements.push(this.#element(r)))
        break
      case SECTION.dataCount:
        this.#dataCount = r.u32()
        break
      case SECTION.code:
        this.#each(r, 3, () => {
          const size = r.u32()
          const offset = r.offset
          this.#bodies.push({ bytes: r.take(size), offset })
        })
        break
      default:
        this.#each(r, 2, () => this.#data.push(this.#dataSegment(r)))
        break
    }
  }

  #each(r: ByteReader, bytesPerItem: number, read: () => void): void {
    const count = r.count(bytesPerItem)
    for (let item = 0; item < count; item++) read()
  }

  #index(r: ByteReader, kind: ExternKind): number {
    const offset = r.offset
    const index = r.u32()
    if (index >= this.#spaces[kind]) throw invalidModule(`There is no ${kind} ${index}`, offset)
    return index
  }

  #valueType(r: ByteReader): ValueType {
    return readValueType(r, this.#types.length)
  }

  #functionType(r: ByteReader): FunctionType {
    const offset = r.offset
    const form = r.byte()
    if (form === 0x5d) throw unsupportedFeature('stack switching', offset)
    if (form === 0x4e || form === 0x4f || form === 0x50 || form === 0x5e || form === 0x5f) {
      throw unsupportedFeature('garbage collection (GC)', offset)
    }
    if (form !== FUNCTION_TYPE) throw invalidModule(`Unknown form of type 0x${form.toString(16)}`, offset)
    const params = this.#valueTypes(r)
    return { params, results: this.#valueTypes(r) }
  }

  #valueTypes(r: ByteReader): ValueType[] {
    const types: ValueType[] = []
    this.#each(r, 1, () => types.push(this.#valueType(r)))
    return types
  }

  #functionTypeIndex(r: ByteReader): number {
    const offset = r.offset
    const index = r.u32()
    if (index >= this.#types.length) throw invalidModule(`There is no type ${index}`, offset)
    return index
  }

  #tagType(r: ByteReader): number {
    if (r.byte() !== 0) throw invalidModule('Unknown kind of tag', r.offset - 1)
    return this.#functionTypeIndex(r)
  }

  #globalType(r: ByteReader): GlobalType {
    const value = this.#valueType(r)
    const flags = r.byte()
    if (flags > 1) throw unsupportedFeature('shared-everything threads', r.offset - 1)
    return { value, mutable: flags === 1 }
  }

  #tableType(r: ByteReader): TableType {
    const offset = r.offset
    const element = this.#valueType(r)
    if (!isReference(element)) throw invalidModule('A table of something else than references', offset)
    return { element, limits: readLimits(r, 'table') }
  }

  #table(r: ByteReader): Table {
    if (r.bytes[r.position] !== 0x40) return { type: this.#tableType(r) }
    r.byte()
    if (r.byte() !== 0) throw invalidModule('A reserved byte is not zero', r.offset - 1)
    return { type: this.#tableType(r), init: this.#constant(r) }
  }

  #import(r: ByteReader): Import {
    const module = r.name()
    const name = r.name()
    const desc = this.#importType(r)
    this.#spaces[desc.kind]++
    return { module, name, desc }
  }

  #importType(r: ByteReader): ImportType {
    const offset = r.offset
    switch (r.byte()) {
      case 0:
        return { kind: 'function', type: this.#functionTypeIndex(r) }
      case 1:
        return { kind: 'table', table: this.#tableType(r) }
      case 2:
        return { kind: 'memory', limits: readLimits(r, 'memory') }
      case 3:
        return { kind: 'global', global: this.#globalType(r) }
      case 4:
        return { kind: 'tag', type: this.#tagType(r) }
      case 0x7e:
      case 0x7f:
        throw unsupportedFeature('compact imports', offset)
      case 0x20:
        throw unsupportedFeature('exact function imports (GC)', offset)
      default:
        throw invalidModule('Unknown kind of import', offset)
    }
  }

  #export(r: ByteReader): Export {
    const name = r.name()
    const kind = EXTERN_KINDS[r.byte()]
    if (kind === undefined) throw invalidModule('Unknown kind of export', r.offset - 1)
    return { name, kind, index: this.#index(r, kind) }
  }

  #constant(r: ByteReader): ConstantExpression {
    const context: ConstantContext = {
      types: this.#types.length,
      functions: this.#spaces.function,
      globals: this.#spaces.global,
    }
    return readConstantExpression(r, context)
  }

  #element(r: ByteReader): ElementSegment {
    const offset = r.offset
    const flags = r.u32()
    if (flags > 7) throw invalidModule('Unknown kind of element segment', offset)
    const mode = this.#elementMode(r, flags)
    const expressions = (flags & 4) !== 0
    let type: ValueType = FUNCREF
    if ((flags & 3) !== 0) {
      if (expressions) type = this.#valueType(r)
      else if (r.byte() !== 0) throw invalidModule('Unknown kind of element', r.offset - 1)
    }
    if (expressions) {
      const items: ConstantExpression[] = []
      this.#each(r, 2, () => items.push(this.#constant(r)))
      return { mode, type, items: { kind: 'expressions', expressions: items } }
    }
    const indices: number[] = []
    this.#each(r, 1, () => indices.push(this.#index(r, 'function')))
    return { mode, type, items: { kind: 'functions', indices } }
  }

  #elementMode(r: ByteReader, flags: number): SegmentMode {
    if ((flags & 1) !== 0) return { kind: (flags & 2) !== 0 ? 'declared' : 'passive' }
    let table = 0
    if ((flags & 2) !== 0) table = this.#index(r, 'table')
    else if (this.#spaces.table === 0) throw invalidModule('There is no table 0', r.offset)
    return { kind: 'active', index: table, offset: this.#constant(r) }
  }

  #dataSegment(r: ByteReader): DataSegment {
    const offset = r.offset
    const flags = r.u32()
    if (flags > 2) throw invalidModule('Unknown kind of data segment', offset)
    let mode: SegmentMode = { kind: 'passive' }
    if (flags !== 1) {
      if (flags === 0 && this.#spaces.memory === 0) throw invalidModule('There is no memory 0', offset)
      const index = flags === 2 ? this.#index(r, 'memory') : 0
      mode = { kind: 'active', index, offset: this.#constant(r) }
    }
    return { mode, bytes: r.take(r.u32()) }
  }
}
