/**
 * Values out of a guest: from core values or its memory to fresh host values.
 *
 * Invariants
 * 1. Nothing of the guest's is trusted: pointers, lengths, discriminants, characters, handles are checked, and what is
 *    wrong is a `GuestFault`.
 * 2. What is made is counted before it is made (`ValueBudget`).
 * 3. No guest code runs in between: the memory cannot change under the reader.
 *
 * Source: CanonicalABI.md, "Loading" and "Flat Lifting".
 */

import { isTyped, TYPED_ARRAYS } from './check-value.ts'
import { GuestFault } from './guest-memory.ts'
import { GuestResource, type LiveResource } from './resources.ts'
import { loadText } from './text.ts'
import { memoryOf, type ValueContext } from './value-context.ts'
import { alignTo, type CoreType, hasUndefined, type Kind, type WitType } from './wit-type.ts'

/** Core values, read one after the other. */
export class FlatReader {
  readonly #values: readonly unknown[]
  readonly #types: readonly CoreType[]
  #next = 0

  /** @param types what was announced, which says how each is to be read */
  constructor(values: readonly unknown[], types: readonly CoreType[]) {
    this.#values = values
    this.#types = types
  }

  get position(): number {
    return this.#next
  }

  skipTo(position: number): void {
    this.#next = position
  }

  /** The next one, which was announced as a type that holds `wanted`. */
  read(wanted: CoreType): number | bigint {
    const value = this.#values[this.#next]
    const have = this.#types[this.#next]
    this.#next += 1
    if (typeof value !== (have === 'i64' ? 'bigint' : 'number'))
      throw new GuestFault('A core function does not give what its type says.')
    return have === wanted ? (value as number | bigint) : converted(value as number | bigint, have, wanted)
  }

  u32(): number {
    return (this.read('i32') as number) >>> 0
  }
}

const CONVERTER: DataView = new DataView(new ArrayBuffer(8))

/** A value that was put into a wider slot, as the payloads of variants share theirs. */
function converted(value: number | bigint, have: CoreType | undefined, wanted: CoreType): number | bigint {
  if (have === 'i32') CONVERTER.setInt32(0, value as number, true)
  else CONVERTER.setBigInt64(0, value as bigint, true)
  switch (wanted) {
    case 'i32':
      return CONVERTER.getInt32(0, true)
    case 'f32':
      return CONVERTER.getFloat32(0, true)
    case 'i64':
      return CONVERTER.getBigInt64(0, true)
    case 'f64':
      return CONVERTER.getFloat64(0, true)
  }
}

export function liftFlat(cx: ValueContext, type: WitType, flat: FlatReader): unknown {
  switch (type.kind) {
    case 'bool':
      return flat.u32() !== 0
    case 's8':
      return (flat.u32() << 24) >> 24
    case 'u8':
      return flat.u32() & 0xff
    case 's16':
      return (flat.u32() << 16) >> 16
    case 'u16':
      return flat.u32() & 0xffff
    case 's32':
      return flat.u32() | 0
    case 'u32':
      return flat.u32()
    case 's64':
      return BigInt.asIntN(64, flat.read('i64') as bigint)
    case 'u64':
      return BigInt.asUintN(64, flat.read('i64') as bigint)
    case 'f32':
      return flat.read('f32')
    case 'f64':
      return flat.read('f64')
    case 'char':
      return char(flat.u32())
    case 'string': {
      const pointer = flat.u32()
      return loadText(memoryOf(cx), cx.encoding, pointer, flat.u32(), cx.budget)
    }
    case 'list': {
      const pointer = flat.u32()
      return loadList(cx, type, pointer, flat.u32())
    }
    case 'record':
    case 'tuple':
      return compose(cx, type, (field) => liftFlat(cx, field, flat))
    case 'variant':
    case 'option':
    case 'result':
    case 'enum': {
      const begin = flat.position
      const index = flat.u32()
      const value = choose(cx, type, index, (payload) => liftFlat(cx, payload, flat))
      flat.skipTo(begin + (type.flat as readonly CoreType[]).length)
      return value
    }
    case 'flags':
      return flags(cx, type, flat.u32())
    case 'own':
    case 'borrow':
      return liftHandle(cx, type, flat.u32())
  }
}

/** @throws GuestFault for a pointer that is not aligned, or a value that is not in the memory as a whole */
export function loadAt(cx: ValueContext, type: WitType, pointer: number): unknown {
  memoryOf(cx).check(pointer, type.size, type.align)
  return load(cx, type, pointer)
}

/** Of a place that was checked. */
function load(cx: ValueContext, type: WitType, pointer: number): unknown {
  const { view } = memoryOf(cx)
  switch (type.kind) {
    case 'bool':
      return view.getUint8(pointer) !== 0
    case 's8':
      return view.getInt8(pointer)
    case 'u8':
      return view.getUint8(pointer)
    case 's16':
      return view.getInt16(pointer, true)
    case 'u16':
      return view.getUint16(pointer, true)
    case 's32':
      return view.getInt32(pointer, true)
    case 'u32':
      return view.getUint32(pointer, true)
    case 's64':
      return view.getBigInt64(pointer, true)
    case 'u64':
      return view.getBigUint64(pointer, true)
    case 'f32':
      return view.getFloat32(pointer, true)
    case 'f64':
      return view.getFloat64(pointer, true)
    case 'char':
      return char(view.getUint32(pointer, true))
    case 'string': {
      const units = view.getUint32(pointer + 4, true)
      return loadText(memoryOf(cx), cx.encoding, view.getUint32(pointer, true), units, cx.budget)
    }
    case 'list':
      return loadList(cx, type, view.getUint32(pointer, true), view.getUint32(pointer + 4, true))
    case 'record':
    case 'tuple':
      return compose(cx, type, (field, offset) => load(cx, field, pointer + offset))
    case 'variant':
    case 'option':
    case 'result':
    case 'enum': {
      const index = loadUnsigned(view, pointer, type.discriminantBytes)
      return choose(cx, type, index, (payload) => load(cx, payload, pointer + type.payloadOffset))
    }
    case 'flags':
      return flags(cx, type, loadUnsigned(view, pointer, type.size as 1 | 2 | 4))
    case 'own':
    case 'borrow':
      return liftHandle(cx, type, view.getUint32(pointer, true))
  }
}

function loadUnsigned(view: DataView, pointer: number, bytes: 1 | 2 | 4): number {
  if (bytes === 1) return view.getUint8(pointer)
  return bytes === 2 ? view.getUint16(pointer, true) : view.getUint32(pointer, true)
}

function loadList(cx: ValueContext, { element }: Kind<'list'>, pointer: number, length: number): unknown {
  const memory = memoryOf(cx)
  const { kind, size, align } = element
  memory.check(pointer, length * alignTo(size, align), align)
  if (isTyped(kind)) {
    cx.budget.take(1, length * size)
    const copy = memory.bytes.slice(pointer, pointer + length * size)
    return new TYPED_ARRAYS[kind](copy.buffer)
  }
  cx.budget.take(length + 1, length * size)
  const items: unknown[] = []
  for (let index = 0; index < length; index += 1) items.push(load(cx, element, pointer + index * size))
  return items
}

function compose(
  cx: ValueContext,
  { kind, fields }: Kind<'record' | 'tuple'>,
  read: (type: WitType, offset: number) => unknown,
): unknown {
  cx.budget.take(fields.length, 0)
  if (kind === 'tuple') return fields.map(({ type, offset }) => read(type, offset))
  const record: Record<string, unknown> = {}
  for (const { key, type, offset } of fields) record[key] = read(type, offset)
  return record
}

function choose(
  cx: ValueContext,
  type: Kind<'variant' | 'option' | 'result' | 'enum'>,
  index: number,
  read: (payload: WitType) => unknown,
): unknown {
  const chosen = type.cases[index]
  if (chosen === undefined)
    throw new GuestFault(
      `The guest gave the discriminant ${index} where there are ${type.cases.length} cases.`,
    )
  if (type.kind === 'enum') return chosen.name
  cx.budget.take(1, 0)
  const { name: tag, type: payload } = chosen
  if (type.kind === 'option' && !hasUndefined(type.cases[1]?.type as WitType))
    return payload === undefined ? undefined : read(payload)
  return payload === undefined ? { tag } : { tag, val: read(payload) }
}

function flags(cx: ValueContext, { keys }: Kind<'flags'>, bits: number): unknown {
  cx.budget.take(keys.length, 0)
  const set: Record<string, boolean> = {}
  for (const [index, key] of keys.entries()) set[key] = ((bits >>> index) & 1) === 1
  return set
}

function char(point: number): string {
  if (point > 0x10_ffff || (point >= 0xd800 && point <= 0xdfff))
    throw new GuestFault(`The guest gave ${point} as a character.`)
  return String.fromCodePoint(point)
}

function liftHandle(cx: ValueContext, type: Kind<'own' | 'borrow'>, index: number): unknown {
  const resource = type.resource as LiveResource
  if (type.kind === 'own') {
    const representation = cx.handles.takeOwn(index, resource)
    return resource.owner === undefined ? representation : new GuestResource(resource, representation)
  }
  const representation = cx.handles.lend(index, resource, cx.scope)
  return resource.owner === undefined ? representation : new GuestResource(resource, representation, cx.scope)
}
