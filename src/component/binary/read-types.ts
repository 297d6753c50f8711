/** Reads type definitions and declarations. See `component-ast.ts`; bounds as in `read-component.ts`. */
import type { ByteReader } from '../../wasm/byte-reader.ts'
import type {
  AliasTarget,
  Declaration,
  ExternDescription,
  NamedType,
  PrimitiveName,
  Sort,
  TypeDefinition,
  TypeRef,
} from './component-ast.ts'
import { invalidComponent, unsupportedInComponent } from './component-error.ts'

const MOST_TYPE_NESTING = 32
/** Characters of a label, and of the name of an import or export, which may hold several and a version. */
const MOST_LABEL = 1_000
const MOST_NAME = 8_000
/**
 * Words and acronyms, as WIT has them. Labels become keys of host values: one that is no label could be a key that means
 * something there (`__proto__`).
 */
const LABEL = /^[a-z][0-9a-z]*(?:-[0-9a-z]+)*$/i
/** What WIT, URLs, hashes and versions are written in. */
const NAME = /^[\x20-\x7e]+$/
/** As in other implementations, so that what links there links here. */
const MOST_PARAMS = 1_000
const MOST_FLAGS = 32
/** Cases, fields, elements of tuples: discriminants of four bytes are nobody's. */
const MOST_PARTS = 65_536

const PRIMITIVES: ReadonlyMap<number, PrimitiveName> = new Map([
  [0x7f, 'bool'],
  [0x7e, 's8'],
  [0x7d, 'u8'],
  [0x7c, 's16'],
  [0x7b, 'u16'],
  [0x7a, 's32'],
  [0x79, 'u32'],
  [0x78, 's64'],
  [0x77, 'u64'],
  [0x76, 'f32'],
  [0x75, 'f64'],
  [0x74, 'char'],
  [0x73, 'string'],
])

const UNSUPPORTED_TYPES: ReadonlyMap<number, string> = new Map([
  [0x43, 'async functions'],
  [0x3e, 'resources with asynchronous destructors'],
  [0x63, 'maps'],
  [0x64, 'error contexts'],
  [0x65, 'futures'],
  [0x66, 'streams'],
  [0x67, 'lists of a fixed length'],
])

const CORE_SORTS: ReadonlyMap<number, Sort> = new Map([
  [0x00, 'core func'],
  [0x01, 'core table'],
  [0x02, 'core memory'],
  [0x03, 'core global'],
  [0x11, 'core module'],
  [0x12, 'core instance'],
])

const SORTS: ReadonlyMap<number, Sort> = new Map([
  [0x01, 'func'],
  [0x03, 'type'],
  [0x04, 'component'],
  [0x05, 'instance'],
])

export function readCoreSort(reader: ByteReader): Sort {
  const { offset } = reader
  const byte = reader.byte()
  const sort = CORE_SORTS.get(byte)
  if (sort !== undefined) return sort
  if (byte === 0x04 || byte === 0x10) throw unsupportedInComponent('core types or tags as items', offset)
  throw invalidComponent('There is no such sort of core items', offset)
}

export function readSort(reader: ByteReader): Sort {
  const { offset } = reader
  const byte = reader.byte()
  if (byte === 0x00) return readCoreSort(reader)
  const sort = SORTS.get(byte)
  if (sort !== undefined) return sort
  if (byte === 0x02) throw unsupportedInComponent('values as items', offset)
  throw invalidComponent('There is no such sort of items', offset)
}

/** `count` items, none of which is empty. */
export function readAll<T>(reader: ByteReader, read: () => T, most: number = MOST_PARTS): T[] {
  const { offset } = reader
  const count = reader.count()
  if (count > most) throw unsupportedInComponent(`${count} items where ${most} are allowed`, offset)
  const items: T[] = []
  for (let left = count; left > 0; left -= 1) items.push(read())
  return items
}

/** The name of an import or export, without the byte that says of which kind it is. */
export function readExternName(reader: ByteReader): string {
  const { offset } = reader
  const kind = reader.byte()
  if (kind > 0x01) throw unsupportedInComponent('names with attributes', offset)
  const name = reader.name()
  if (name.length > MOST_NAME) throw unsupportedInComponent(`a name of ${name.length} characters`, offset)
  if (!NAME.test(name)) throw invalidComponent('The name of an import or export is none', offset)
  return name
}

/** The name of a field, case, flag or parameter. */
function readLabel(reader: ByteReader): string {
  const { offset } = reader
  const name = reader.name()
  if (name.length > MOST_LABEL) throw unsupportedInComponent(`a name of ${name.length} characters`, offset)
  if (!LABEL.test(name))
    throw invalidComponent('The name of a field, case, flag or parameter is none', offset)
  return name
}

function readTypeRef(reader: ByteReader): TypeRef {
  const { offset } = reader
  const value = reader.s33()
  if (value >= 0) return value
  const byte = value & 0x7f
  const primitive = value >= -64 ? PRIMITIVES.get(byte) : undefined
  if (primitive !== undefined) return primitive
  throw unknownType(byte, offset)
}

function unknownType(byte: number, offset: number): Error {
  const unsupported = UNSUPPORTED_TYPES.get(byte)
  return unsupported === undefined
    ? invalidComponent(`There is no type 0x${byte.toString(16)}`, offset)
    : unsupportedInComponent(unsupported, offset)
}

function readOptionalType(reader: ByteReader): TypeRef | undefined {
  const { offset } = reader
  const flag = reader.byte()
  if (flag > 1) throw invalidComponent('A flag is neither 0 nor 1', offset)
  return flag === 1 ? readTypeRef(reader) : undefined
}

/** @param nesting how many types of instances and components this one stands in */
export function readTypeDefinition(reader: ByteReader, nesting = 0): TypeDefinition {
  const { offset } = reader
  const byte = reader.byte()
  const primitive = PRIMITIVES.get(byte)
  if (primitive !== undefined) return { kind: 'primitive', name: primitive }
  switch (byte) {
    case 0x72:
      return { kind: 'record', fields: parts(readNamedTypes(reader), offset) }
    case 0x71:
      return { kind: 'variant', cases: parts(readCases(reader), offset) }
    case 0x70:
      return { kind: 'list', element: readTypeRef(reader) }
    case 0x6f:
      return {
        kind: 'tuple',
        types: parts(
          readAll(reader, () => readTypeRef(reader)),
          offset,
        ),
      }
    case 0x6e: {
      const names = parts(
        readAll(reader, () => readLabel(reader)),
        offset,
      )
      if (names.length > MOST_FLAGS) throw unsupportedInComponent('more than 32 flags', offset)
      return { kind: 'flags', names }
    }
    case 0x6d:
      return {
        kind: 'enum',
        names: parts(
          readAll(reader, () => readLabel(reader)),
          offset,
        ),
      }
    case 0x6b:
      return { kind: 'option', type: readTypeRef(reader) }
    case 0x6a:
      return { kind: 'result', ok: readOptionalType(reader), err: readOptionalType(reader) }
    case 0x69:
      return { kind: 'own', resource: reader.u32() }
    case 0x68:
      return { kind: 'borrow', resource: reader.u32() }
    case 0x40:
      return readFunctionType(reader)
    case 0x3f:
      return readResource(reader)
    case 0x41:
    case 0x42: {
      if (nesting >= MOST_TYPE_NESTING) throw unsupportedInComponent('types nested that deep', offset)
      const inComponent = byte === 0x41
      const declarations = readAll(reader, () => readDeclaration(reader, nesting + 1, inComponent))
      return { kind: inComponent ? 'component' : 'instance', declarations }
    }
    default:
      throw unknownType(byte, offset)
  }
}

/** Types of nothing have no values, and lists of them no size. */
function parts<T>(items: T[], offset: number): T[] {
  if (items.length === 0)
    throw invalidComponent('A record, variant, tuple, enum or set of flags is empty', offset)
  return items
}

function readNamedTypes(reader: ByteReader, most?: number): NamedType[] {
  return readAll(reader, () => ({ name: readLabel(reader), type: readTypeRef(reader) }), most)
}

function readCases(reader: ByteReader): { name: string; type: TypeRef | undefined }[] {
  return readAll(reader, () => {
    const read = { name: readLabel(reader), type: readOptionalType(reader) }
    const { offset } = reader
    if (reader.byte() !== 0) throw invalidComponent('A case refines another one', offset)
    return read
  })
}

function readFunctionType(reader: ByteReader): TypeDefinition {
  const params = readNamedTypes(reader, MOST_PARAMS)
  const { offset } = reader
  const form = reader.byte()
  if (form === 0x00) return { kind: 'func', params, result: readTypeRef(reader) }
  if (form !== 0x01 || reader.u32() !== 0) throw unsupportedInComponent('named results', offset)
  return { kind: 'func', params, result: undefined }
}

function readResource(reader: ByteReader): TypeDefinition {
  const { offset } = reader
  if (reader.byte() !== 0x7f) throw invalidComponent('A resource is represented by an i32', offset)
  const flag = reader.byte()
  if (flag > 1) throw invalidComponent('A flag is neither 0 nor 1', offset)
  return { kind: 'resource', destructor: flag === 1 ? reader.u32() : undefined }
}

function readDeclaration(reader: ByteReader, nesting: number, inComponent: boolean): Declaration {
  const { offset } = reader
  const byte = reader.byte()
  switch (byte) {
    case 0x01:
      return { kind: 'type', type: readTypeDefinition(reader, nesting) }
    case 0x02:
      return { kind: 'alias', target: readAlias(reader) }
    case 0x03:
      if (!inComponent) break
      return { kind: 'import', name: readExternName(reader), is: readExternDescription(reader) }
    case 0x04:
      return { kind: 'export', name: readExternName(reader), is: readExternDescription(reader) }
    case 0x00:
      throw unsupportedInComponent('core types', offset)
    default:
  }
  throw invalidComponent('There is no such declaration', offset)
}

export function readAlias(reader: ByteReader): AliasTarget {
  const sort = readSort(reader)
  const { offset } = reader
  switch (reader.byte()) {
    case 0x00:
      return { kind: 'export', sort, instance: reader.u32(), name: reader.name() }
    case 0x01:
      return { kind: 'core export', sort, instance: reader.u32(), name: reader.name() }
    case 0x02:
      return { kind: 'outer', sort, count: reader.u32(), index: reader.u32() }
    default:
      throw invalidComponent('There is no such target of an alias', offset)
  }
}

export function readExternDescription(reader: ByteReader): ExternDescription {
  const { offset } = reader
  switch (reader.byte()) {
    case 0x01:
      return { sort: 'func', type: reader.u32() }
    case 0x03: {
      const bound = reader.byte()
      if (bound === 0x00) return { sort: 'type', equals: reader.u32() }
      if (bound === 0x01) return { sort: 'type', equals: 'resource' }
      throw invalidComponent('There is no such bound of a type', offset)
    }
    case 0x04:
      return { sort: 'component', type: reader.u32() }
    case 0x05:
      return { sort: 'instance', type: reader.u32() }
    case 0x00:
      throw unsupportedInComponent('core modules as imports', offset)
    case 0x02:
      throw unsupportedInComponent('values as imports', offset)
    default:
      throw invalidComponent('There is no such kind of import or export', offset)
  }
}
