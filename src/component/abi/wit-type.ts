/**
 * Types of the component model, resolved, with how their values lie in memory and in core parameters.
 *
 * Host values: numbers for 8 to 32 bits and floats, bigints for 64 bits, strings for `string` and `char`, arrays for
 * lists and tuples (typed arrays for lists of numbers), objects with camelCase keys for records and flags, strings for
 * enums, `{ tag, val }` for variants and results, `undefined` or the value for options (`{ tag: 'none' | 'some', val }`
 * where the value may itself be `undefined`), objects for resources. These are the shapes of jco's bindings.
 *
 * Invariants
 * 1. Every type has a size of at least one byte, so that no number of values fits into less memory than it has items.
 * 2. `flat` is left out where a value takes more core values than may be parameters: it goes through memory then.
 *
 * Source: CanonicalABI.md of the component model ("Alignment", "Element Size", "Flattening").
 */
import type { PrimitiveName } from '../binary/component-ast.ts'
import { unsupportedInComponent } from '../binary/component-error.ts'

export type CoreType = 'i32' | 'i64' | 'f32' | 'f64'

interface Laid {
  /** Bytes in memory, and the multiple at which they begin. */
  readonly size: number
  readonly align: number
  readonly flat: readonly CoreType[] | undefined
  /** Containers on the longest way to a value without parts. */
  readonly depth: number
  /** Whether its values hold resources. */
  readonly handles: boolean
}

export interface Field {
  readonly name: string
  /** Its name in host values. */
  readonly key: string
  readonly type: WitType
  /** Bytes from the begin of the record. */
  readonly offset: number
}

export interface Case {
  readonly name: string
  readonly type: WitType | undefined
}

export interface VariantParts {
  readonly cases: readonly Case[]
  /** Index of a case by its name. */
  readonly indexOf: ReadonlyMap<string, number>
  readonly discriminantBytes: 1 | 2 | 4
  readonly payloadOffset: number
}

/** What makes one resource type different from all others. */
export interface ResourceType {
  readonly name: string
}

interface OfKind {
  readonly list: { readonly element: WitType }
  readonly record: { readonly fields: readonly Field[] }
  readonly tuple: { readonly fields: readonly Field[] }
  readonly variant: VariantParts
  readonly option: VariantParts
  readonly result: VariantParts
  readonly enum: VariantParts
  readonly flags: { readonly names: readonly string[]; readonly keys: readonly string[] }
  readonly own: { readonly resource: ResourceType }
  readonly borrow: { readonly resource: ResourceType }
}

type KindName = PrimitiveName | keyof OfKind

/** The types of one kind, or of several. */
export type Kind<K extends KindName> = K extends keyof OfKind
  ? Laid & OfKind[K] & { readonly kind: K }
  : Laid & { readonly kind: K }

export type WitType = Kind<KindName>

export interface Parameter {
  readonly name: string
  readonly type: WitType
}

export interface FunctionType {
  readonly params: readonly Parameter[]
  /** All parameters as one tuple: how they lie in memory where they are too many. */
  readonly tuple: Kind<'tuple'> | undefined
  readonly result: WitType | undefined
}

const MAX_FLAT_PARAMS = 16
const MOST_DEPTH = 100
const MOST_SIZE = 2 ** 28

const PRIMITIVES: Readonly<Record<PrimitiveName, Laid>> = {
  bool: { size: 1, align: 1, flat: ['i32'], depth: 0, handles: false },
  s8: { size: 1, align: 1, flat: ['i32'], depth: 0, handles: false },
  u8: { size: 1, align: 1, flat: ['i32'], depth: 0, handles: false },
  s16: { size: 2, align: 2, flat: ['i32'], depth: 0, handles: false },
  u16: { size: 2, align: 2, flat: ['i32'], depth: 0, handles: false },
  s32: { size: 4, align: 4, flat: ['i32'], depth: 0, handles: false },
  u32: { size: 4, align: 4, flat: ['i32'], depth: 0, handles: false },
  s64: { size: 8, align: 8, flat: ['i64'], depth: 0, handles: false },
  u64: { size: 8, align: 8, flat: ['i64'], depth: 0, handles: false },
  f32: { size: 4, align: 4, flat: ['f32'], depth: 0, handles: false },
  f64: { size: 8, align: 8, flat: ['f64'], depth: 0, handles: false },
  char: { size: 4, align: 4, flat: ['i32'], depth: 0, handles: false },
  string: { size: 8, align: 4, flat: ['i32', 'i32'], depth: 0, handles: false },
}

const PRIMITIVE_TYPES: ReadonlyMap<PrimitiveName, WitType> = new Map(
  (Object.keys(PRIMITIVES) as PrimitiveName[]).map((kind) => [
    kind,
    { kind, ...PRIMITIVES[kind] } as WitType,
  ]),
)

export function primitiveType(kind: PrimitiveName): WitType {
  return PRIMITIVE_TYPES.get(kind) as WitType
}

export function listType(element: WitType): WitType {
  return { kind: 'list', element, ...checked(8, 4, ['i32', 'i32'], element.depth + 1, element.handles) }
}

export function recordType(kind: 'record' | 'tuple', parts: readonly Parameter[]): Kind<'tuple'> {
  const fields: Field[] = []
  let end = 0
  let align = 1
  let depth = 0
  let flat: CoreType[] | undefined = []
  for (const [index, { name, type }] of parts.entries()) {
    const offset = alignTo(end, type.align)
    fields.push({ name, key: kind === 'tuple' ? String(index) : hostKey(name), type, offset })
    end = offset + type.size
    align = Math.max(align, type.align)
    depth = Math.max(depth, type.depth)
    flat = joinFlat(flat, type.flat)
  }
  refuseTwice(fields.map(({ key }) => key))
  const laid = checked(
    alignTo(end, align),
    align,
    flat,
    depth + 1,
    parts.some(({ type }) => type.handles),
  )
  return { kind: kind as 'tuple', fields, ...laid }
}

export function variantType(kind: 'variant' | 'option' | 'result' | 'enum', cases: readonly Case[]): WitType {
  const discriminantBytes = cases.length <= 256 ? 1 : cases.length <= 65_536 ? 2 : 4
  let align = 1
  let largest = 0
  let depth = 0
  let payload: CoreType[] | undefined = []
  for (const { type } of cases) {
    if (type === undefined) continue
    align = Math.max(align, type.align)
    largest = Math.max(largest, type.size)
    depth = Math.max(depth, type.depth)
    payload = unite(payload, type.flat)
  }
  const payloadOffset = alignTo(discriminantBytes, align)
  const whole = Math.max(align, discriminantBytes)
  const flat = joinFlat(['i32'], payload)
  refuseTwice(cases.map(({ name }) => name))
  const indexOf = new Map(cases.map(({ name }, index) => [name, index]))
  const laid = checked(
    alignTo(payloadOffset + largest, whole),
    whole,
    flat,
    depth + 1,
    cases.some(({ type }) => type?.handles === true),
  )
  return { kind, cases, indexOf, discriminantBytes, payloadOffset, ...laid }
}

export function flagsType(names: readonly string[]): WitType {
  const size = names.length <= 8 ? 1 : names.length <= 16 ? 2 : 4
  const keys = names.map(hostKey)
  refuseTwice(keys)
  return { kind: 'flags', names, keys, ...checked(size, size, ['i32'], 1, false) }
}

export function handleType(kind: 'own' | 'borrow', resource: ResourceType): WitType {
  return { kind, resource, size: 4, align: 4, flat: ['i32'], depth: 0, handles: true }
}

export function functionType(params: readonly Parameter[], result: WitType | undefined): FunctionType {
  refuseTwice(params.map(({ name }) => name))
  return { params, tuple: params.length === 0 ? undefined : recordType('tuple', params), result }
}

/** A name of WIT as jco's bindings have it in JavaScript: `get-random-u64` is `getRandomU64`. */
export function hostKey(name: string): string {
  return name.toLowerCase().replace(/-+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

/** Whether `undefined` is a value of the type, so that an option of it needs a tag. */
export function hasUndefined(type: WitType): boolean {
  return type.kind === 'option'
}

export function alignTo(offset: number, align: number): number {
  return Math.ceil(offset / align) * align
}

function checked(
  size: number,
  align: number,
  flat: readonly CoreType[] | undefined,
  depth: number,
  handles: boolean,
): Laid {
  if (depth > MOST_DEPTH) throw unsupportedInComponent('types nested that deep')
  if (size > MOST_SIZE) throw unsupportedInComponent('a type whose values are larger than any memory here')
  return { size, align, flat, depth, handles }
}

function joinFlat(
  flat: CoreType[] | undefined,
  more: readonly CoreType[] | undefined,
): CoreType[] | undefined {
  if (flat === undefined || more === undefined) return undefined
  return flat.length + more.length > MAX_FLAT_PARAMS ? undefined : [...flat, ...more]
}

/** What holds the core values of either of two cases. */
function unite(one: CoreType[] | undefined, other: readonly CoreType[] | undefined): CoreType[] | undefined {
  if (one === undefined || other === undefined) return undefined
  const both: CoreType[] = []
  for (let index = 0; index < Math.max(one.length, other.length); index += 1) {
    const [a, b] = [one[index], other[index]]
    if (a === undefined || b === undefined || a === b) both.push((a ?? b) as CoreType)
    else both.push(is32(a) && is32(b) ? 'i32' : 'i64')
  }
  return both
}

function is32(type: CoreType): boolean {
  return type === 'i32' || type === 'f32'
}

function refuseTwice(names: readonly string[]): void {
  if (new Set(names).size !== names.length) throw unsupportedInComponent('one name twice in one type')
}
