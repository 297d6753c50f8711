/**
 * Reads a whole core module into plain data: the oracle's own view, shared with nothing in `src`.
 *
 * Function, table, memory, global and tag lists are index spaces: imports first, then definitions.
 */
import { ByteReader, OracleError } from './byte-reader.ts'
import {
  type Instruction,
  OP,
  readExpression,
  readInstructions,
  readValueType,
  type ValueType,
} from './instruction.ts'

/** Parameters and results of a function or (results empty) of an exception tag. */
export interface FunctionType {
  readonly params: readonly ValueType[]
  readonly results: readonly ValueType[]
}

/** Sizes in pages (memory) or elements (table). */
export interface SizeLimits {
  readonly minimum: number
  readonly maximum: number | undefined
}

/** The five kinds of things that are imported and exported. */
export type ExternKind = 'function' | 'table' | 'memory' | 'global' | 'tag'

/** Where an imported thing comes from. */
export interface ImportName {
  readonly module: string
  readonly name: string
}

/** A function: imported, or defined with a body. */
export interface FunctionEntry {
  readonly typeIndex: number
  readonly imported: ImportName | undefined
  body: FunctionBody | undefined
}

/** The code of a defined function; offsets point into the module. */
export interface FunctionBody {
  /** Offset of the local declarations. */
  readonly start: number
  /** Offset of the first instruction. */
  readonly codeStart: number
  readonly end: number
  readonly locals: readonly ValueType[]
  readonly code: readonly Instruction[]
}

/** A table. */
export interface TableEntry extends SizeLimits {
  readonly type: ValueType
  readonly imported: ImportName | undefined
}

/** A memory. */
export interface MemoryEntry extends SizeLimits {
  readonly imported: ImportName | undefined
}

/** A global; `init` is empty for an imported one. */
export interface GlobalEntry {
  readonly type: ValueType
  readonly mutable: boolean
  readonly imported: ImportName | undefined
  readonly init: readonly Instruction[]
}

/** A tag. */
export interface TagEntry {
  readonly typeIndex: number
  readonly imported: ImportName | undefined
}

/** An element or data segment's place: active at an offset, or not placed at instantiation. */
export type SegmentMode =
  | { readonly kind: 'active'; readonly index: number; readonly offset: readonly Instruction[] }
  | { readonly kind: 'passive' }
  | { readonly kind: 'declarative' }

/** An element segment: one constant expression per element. */
export interface ElementSegment {
  readonly mode: SegmentMode
  readonly items: readonly (readonly Instruction[])[]
}

/** A data segment. */
export interface DataSegment {
  readonly mode: SegmentMode
  readonly bytes: Uint8Array
}

/** A section's place in the module: `start..end` is its payload. */
export interface SectionRange {
  readonly id: number
  readonly start: number
  readonly end: number
}

/** A decoded module. */
export interface WasmModule {
  readonly bytes: Uint8Array
  readonly sections: SectionRange[]
  readonly types: FunctionType[]
  readonly functions: FunctionEntry[]
  readonly tables: TableEntry[]
  readonly memories: MemoryEntry[]
  readonly globals: GlobalEntry[]
  readonly tags: TagEntry[]
  readonly exports: { readonly name: string; readonly kind: ExternKind; readonly index: number }[]
  start: number | undefined
  readonly elements: ElementSegment[]
  readonly data: DataSegment[]
}

const EXTERN_KINDS = ['function', 'table', 'memory', 'global', 'tag'] as const

/** Reads a module; throws `OracleError` on what it does not know. */
export function readModule(bytes: Uint8Array): WasmModule {
  const module: WasmModule = {
    bytes,
    sections: [],
    types: [],
    functions: [],
    tables: [],
    memories: [],
    globals: [],
    tags: [],
    exports: [],
    start: undefined,
    elements: [],
    data: [],
  }
  const reader = new ByteReader(bytes, 8)
  while (reader.at < bytes.length) {
    const id = reader.u8()
    const length = reader.u32()
    const section = { id, start: reader.at, end: reader.at + length }
    module.sections.push(section)
    readSection(module, section)
    reader.at = section.end
  }
  return module
}

/** Whether the oracle knows all that the module uses. */
export function isReadable(bytes: Uint8Array): boolean {
  try {
    readModule(bytes)
    return true
  } catch (cause) {
    if (cause instanceof OracleError) return false
    throw cause
  }
}

const CUSTOM_SECTION = 0
const START_SECTION = 8
const CODE_SECTION = 10
const DATA_COUNT_SECTION = 12

function readSection(module: WasmModule, { id, start }: SectionRange): void {
  const reader = new ByteReader(module.bytes, start)
  if (id === CUSTOM_SECTION || id === DATA_COUNT_SECTION) return
  if (id === START_SECTION) module.start = reader.u32()
  else if (id === CODE_SECTION) readCode(module, reader)
  else {
    const readEntry = SECTION_ENTRIES.get(id)
    if (readEntry === undefined) throw new OracleError(`unknown section ${id}`)
    reader.list(() => readEntry(module, reader))
  }
}

const SECTION_ENTRIES = new Map<number, (module: WasmModule, reader: ByteReader) => void>([
  [1, (module, reader) => module.types.push(readFunctionType(reader))],
  [2, readImport],
  [3, (module, reader) => addFunction(module, reader.u32(), undefined)],
  [4, (module, reader) => addTable(module, reader, undefined)],
  [5, (module, reader) => module.memories.push({ ...readLimits(reader), imported: undefined })],
  [6, (module, reader) => addGlobal(module, reader, undefined)],
  [7, readExport],
  [9, (module, reader) => module.elements.push(readElementSegment(reader))],
  [11, (module, reader) => module.data.push(readDataSegment(reader))],
  [13, (module, reader) => addTag(module, reader, undefined)],
])

function readFunctionType(reader: ByteReader): FunctionType {
  if (reader.u8() !== 0x60) throw new OracleError('not a function type')
  const params = reader.list(() => readValueType(reader))
  return { params, results: reader.list(() => readValueType(reader)) }
}

function readLimits(reader: ByteReader): SizeLimits {
  const flags = reader.u8()
  if (flags > 1) throw new OracleError('shared or 64-bit memories and tables are not read by the oracle')
  const minimum = reader.u32()
  return { minimum, maximum: flags === 1 ? reader.u32() : undefined }
}

function addFunction(module: WasmModule, typeIndex: number, imported: ImportName | undefined): void {
  module.functions.push({ typeIndex, imported, body: undefined })
}

function addTable(module: WasmModule, reader: ByteReader, imported: ImportName | undefined): void {
  const type = readValueType(reader)
  module.tables.push({ type, ...readLimits(reader), imported })
}

function addGlobal(module: WasmModule, reader: ByteReader, imported: ImportName | undefined): void {
  const type = readValueType(reader)
  const mutable = reader.u8() === 1
  module.globals.push({ type, mutable, imported, init: imported === undefined ? readExpression(reader) : [] })
}

function addTag(module: WasmModule, reader: ByteReader, imported: ImportName | undefined): void {
  reader.u8()
  module.tags.push({ typeIndex: reader.u32(), imported })
}

function readImport(module: WasmModule, reader: ByteReader): void {
  const imported = { module: reader.name(), name: reader.name() }
  const kind = EXTERN_KINDS[reader.u8()]
  if (kind === 'function') addFunction(module, reader.u32(), imported)
  else if (kind === 'table') addTable(module, reader, imported)
  else if (kind === 'memory') module.memories.push({ ...readLimits(reader), imported })
  else if (kind === 'global') addGlobal(module, reader, imported)
  else if (kind === 'tag') addTag(module, reader, imported)
  else throw new OracleError('unknown kind of import')
}

function readExport(module: WasmModule, reader: ByteReader): void {
  const name = reader.name()
  const kind = EXTERN_KINDS[reader.u8()]
  if (kind === undefined) throw new OracleError('unknown kind of export')
  module.exports.push({ name, kind, index: reader.u32() })
}

/** The eight encodings of element segments, told apart by the three lowest bits of the flags. */
function readElementSegment(reader: ByteReader): ElementSegment {
  const flags = reader.u32()
  const passiveOrDeclarative = (flags & 1) !== 0
  const explicitIndex = (flags & 2) !== 0
  const expressions = (flags & 4) !== 0
  const mode: SegmentMode = passiveOrDeclarative
    ? { kind: explicitIndex ? 'declarative' : 'passive' }
    : { kind: 'active', index: explicitIndex ? reader.u32() : 0, offset: readExpression(reader) }
  if (passiveOrDeclarative || explicitIndex) reader.u8()
  const items = reader.list(() => (expressions ? readExpression(reader) : [functionReference(reader)]))
  return { mode, items }
}

function functionReference(reader: ByteReader): Instruction {
  const start = reader.at
  const indices = [reader.u32()]
  return {
    opcode: OP.ref_func,
    start,
    end: reader.at,
    indices,
    offset: 0,
    constant: 0,
    block: undefined,
    catches: [],
  }
}

function readDataSegment(reader: ByteReader): DataSegment {
  const flags = reader.u32()
  const index = flags === 2 ? reader.u32() : 0
  const mode: SegmentMode =
    flags === 1 ? { kind: 'passive' } : { kind: 'active', index, offset: readExpression(reader) }
  return { mode, bytes: reader.take(reader.u32()) }
}

function readCode(module: WasmModule, reader: ByteReader): void {
  const defined = module.functions.filter((entry) => entry.imported === undefined)
  if (reader.u32() !== defined.length) throw new OracleError('function and code sections disagree')
  for (const entry of defined) {
    const length = reader.u32()
    entry.body = readBody(reader, reader.at + length)
  }
}

function readBody(reader: ByteReader, end: number): FunctionBody {
  const start = reader.at
  const locals: ValueType[] = []
  reader.list(() => {
    const count = reader.u32()
    const type = readValueType(reader)
    for (let i = 0; i < count; i++) locals.push(type)
  })
  const codeStart = reader.at
  return { start, codeStart, end, locals, code: readInstructions(reader, end) }
}
