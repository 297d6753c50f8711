/**
 * Reads the binary form of components.
 *
 * Invariants
 * 1. Nothing is believed: what reads past the end, a count larger than what follows it, nesting deeper and definitions
 *    more than the bounds end with `invalid_component` or `unsupported_feature` and the place. Nothing else is thrown.
 * 2. The work and what is kept grow no faster than the input.
 * 3. Core modules are not looked into, and not copied.
 */
import { CaissonError } from '../../base/errors.ts'
import { ByteReader } from '../../wasm/byte-reader.ts'
import type {
  CanonDefinition,
  CanonOptions,
  ComponentAst,
  Definition,
  NamedItem,
  ParsedComponent,
  SortIndex,
  StringEncoding,
} from './component-ast.ts'
import { invalidComponent, unsupportedInComponent } from './component-error.ts'
import {
  readAlias,
  readAll,
  readCoreSort,
  readExternDescription,
  readExternName,
  readSort,
  readTypeDefinition,
} from './read-types.ts'

const MOST_NESTING = 16
const MOST_MODULES = 1_000
const MOST_DEFINITIONS = 200_000

const MAGIC = [0x00, 0x61, 0x73, 0x6d]
const COMPONENT_VERSION = [0x0d, 0x00, 0x01, 0x00]
const MODULE_VERSION = [0x01, 0x00, 0x00, 0x00]

/** @throws CaissonError `invalid_component`, `unsupported_feature` */
export function readComponent(bytes: Uint8Array): ParsedComponent {
  const modules: Uint8Array[] = []
  try {
    const root = new ComponentReader(modules).read(new ByteReader(bytes), 0)
    return { root, modules }
  } catch (error) {
    // The reader of core modules says `invalid_module`: these bytes are meant to be a component.
    if (CaissonError.is(error, 'invalid_module'))
      throw new CaissonError(
        'invalid_component',
        error.message.replace('of the module', 'of the component'),
        {
          details: error.details,
        },
      )
    throw error
  }
}

function startsWith(bytes: Uint8Array, expected: readonly number[], at: number): boolean {
  return expected.every((byte, index) => bytes[at + index] === byte)
}

class ComponentReader {
  readonly #modules: Uint8Array[]
  #definitions = 0

  constructor(modules: Uint8Array[]) {
    this.#modules = modules
  }

  read(reader: ByteReader, nesting: number): ComponentAst {
    if (nesting > MOST_NESTING) throw unsupportedInComponent('components nested that deep', reader.offset)
    this.#readPreamble(reader)
    const definitions: Definition[] = []
    while (!reader.done) {
      const { offset } = reader
      const id = reader.byte()
      const section = reader.section(reader.u32())
      this.#readSection(id, section, offset, nesting, definitions)
      if (!section.done) throw invalidComponent('A section has bytes left over', section.offset)
    }
    return { definitions }
  }

  #readPreamble(reader: ByteReader): void {
    const { position, bytes, offset, end } = reader
    if (end - position < 8 || !startsWith(bytes, MAGIC, position))
      throw invalidComponent('The bytes are not WebAssembly', offset)
    if (startsWith(bytes, MODULE_VERSION, position + 4))
      throw invalidComponent('The bytes are a core module, and no component', offset)
    if (!startsWith(bytes, COMPONENT_VERSION, position + 4))
      throw unsupportedInComponent('another version of the component format', offset + 4)
    reader.skip(8)
  }

  #readSection(id: number, section: ByteReader, offset: number, nesting: number, into: Definition[]): void {
    switch (id) {
      case 0:
        section.name()
        section.skip(section.end - section.position)
        return
      case 1:
        into.push(this.#readModule(section))
        return
      case 4:
        into.push({ kind: 'component', component: this.read(section, nesting + 1) })
        return
      case 2:
        this.#readEach(section, into, () => readCoreInstance(section))
        return
      case 5:
        this.#readEach(section, into, () => readInstance(section))
        return
      case 6:
        this.#readEach(section, into, () => ({ kind: 'alias', target: readAlias(section) }))
        return
      case 7:
        this.#readEach(section, into, () => ({ kind: 'type', type: readTypeDefinition(section) }))
        return
      case 8:
        this.#readEach(section, into, () => ({ kind: 'canon', canon: readCanon(section) }))
        return
      case 10:
        this.#readEach(section, into, () => ({
          kind: 'import',
          name: readExternName(section),
          is: readExternDescription(section),
        }))
        return
      case 11:
        this.#readEach(section, into, () => readExport(section))
        return
      case 3:
        throw unsupportedInComponent('core types', offset)
      case 9:
        throw unsupportedInComponent('a start function', offset)
      case 12:
        throw unsupportedInComponent('values', offset)
      default:
        throw invalidComponent('There is no such section', offset)
    }
  }

  #readEach(section: ByteReader, into: Definition[], read: () => Definition): void {
    for (let left = section.count(); left > 0; left -= 1) {
      this.#definitions += 1
      if (this.#definitions > MOST_DEFINITIONS)
        throw unsupportedInComponent(`more than ${MOST_DEFINITIONS} definitions`, section.offset)
      into.push(read())
    }
  }

  #readModule(section: ByteReader): Definition {
    const { position, offset } = section
    const bytes = section.take(section.end - section.position)
    if (
      !startsWith(section.bytes, MAGIC, position) ||
      !startsWith(section.bytes, MODULE_VERSION, position + 4)
    )
      throw invalidComponent('What stands for a core module is none', offset)
    if (this.#modules.length >= MOST_MODULES)
      throw unsupportedInComponent(`more than ${MOST_MODULES} core modules`, offset)
    this.#modules.push(bytes)
    return { kind: 'core module', module: this.#modules.length - 1 }
  }
}

function readCoreInstance(reader: ByteReader): Definition {
  const { offset } = reader
  switch (reader.byte()) {
    case 0x00: {
      const module = reader.u32()
      const args = readAll(reader, (): NamedItem => {
        const name = reader.name()
        const at = reader.offset
        if (reader.byte() !== 0x12) throw invalidComponent('A core module is given core instances', at)
        return { name, sort: 'core instance', index: reader.u32() }
      })
      return { kind: 'core instance', module, args }
    }
    case 0x01: {
      const exports = readAll(
        reader,
        (): NamedItem => ({ name: reader.name(), sort: readCoreSort(reader), index: reader.u32() }),
      )
      return { kind: 'core exports', exports }
    }
    default:
      throw invalidComponent('There is no such core instance', offset)
  }
}

function readSortIndex(reader: ByteReader): SortIndex {
  return { sort: readSort(reader), index: reader.u32() }
}

function readInstance(reader: ByteReader): Definition {
  const { offset } = reader
  switch (reader.byte()) {
    case 0x00: {
      const component = reader.u32()
      const args = readAll(reader, (): NamedItem => ({ name: reader.name(), ...readSortIndex(reader) }))
      return { kind: 'instance', component, args }
    }
    case 0x01: {
      const exports = readAll(
        reader,
        (): NamedItem => ({ name: readExternName(reader), ...readSortIndex(reader) }),
      )
      return { kind: 'exports', exports }
    }
    default:
      throw invalidComponent('There is no such instance', offset)
  }
}

function readExport(reader: ByteReader): Definition {
  const name = readExternName(reader)
  const item = readSortIndex(reader)
  const { offset } = reader
  const flag = reader.byte()
  if (flag > 1) throw invalidComponent('A flag is neither 0 nor 1', offset)
  return { kind: 'export', name, item, as: flag === 1 ? readExternDescription(reader) : undefined }
}

function readCanon(reader: ByteReader): CanonDefinition {
  const { offset } = reader
  const kind = reader.byte()
  switch (kind) {
    case 0x00: {
      expectZero(reader)
      const coreFunction = reader.u32()
      const options = readOptions(reader)
      return { kind: 'lift', coreFunction, options, type: reader.u32() }
    }
    case 0x01:
      expectZero(reader)
      return { kind: 'lower', function: reader.u32(), options: readOptions(reader) }
    case 0x02:
      return { kind: 'resource.new', resource: reader.u32() }
    case 0x03:
      return { kind: 'resource.drop', resource: reader.u32() }
    case 0x04:
      return { kind: 'resource.rep', resource: reader.u32() }
    default:
      throw unsupportedInComponent(
        `a built-in for asynchronous work or threads (0x${kind.toString(16)})`,
        offset,
      )
  }
}

function expectZero(reader: ByteReader): void {
  const { offset } = reader
  if (reader.byte() !== 0) throw invalidComponent('There is no such canonical function', offset)
}

function readOptions(reader: ByteReader): CanonOptions {
  let encoding: StringEncoding = 'utf8'
  let memory: number | undefined
  let realloc: number | undefined
  let postReturn: number | undefined
  for (let left = reader.count(); left > 0; left -= 1) {
    const { offset } = reader
    switch (reader.byte()) {
      case 0x00:
        encoding = 'utf8'
        break
      case 0x01:
        encoding = 'utf16'
        break
      case 0x02:
        encoding = 'latin1+utf16'
        break
      case 0x03:
        memory = reader.u32()
        break
      case 0x04:
        realloc = reader.u32()
        break
      case 0x05:
        postReturn = reader.u32()
        break
      default:
        throw unsupportedInComponent('asynchronous lifting or garbage collected values', offset)
    }
  }
  return { encoding, memory, realloc, postReturn }
}
