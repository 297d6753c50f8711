/**
 * Values into a guest: checked host values to core values or into its memory.
 *
 * Invariants
 * 1. Every value was checked against its type before (`check-value.ts`).
 * 2. Places in memory come from the guest's own allocator and are checked before they are written.
 *
 * Source: CanonicalABI.md, "Storing" and "Flat Lowering".
 */
import { isTyped } from './check-value.ts'
import { GuestResource, type LiveResource } from './resources.ts'
import { storeText } from './text.ts'
import { memoryOf, type ValueContext } from './value-context.ts'
import { alignTo, type CoreType, hasUndefined, type Kind, type WitType } from './wit-type.ts'

type Core = number | bigint

export function lowerFlat(cx: ValueContext, type: WitType, value: unknown, into: Core[]): void {
  switch (type.kind) {
    case 'bool':
      into.push(value === true ? 1 : 0)
      return
    case 's8':
    case 'u8':
    case 's16':
    case 'u16':
    case 's32':
    case 'u32':
    case 's64':
    case 'u64':
    case 'f32':
    case 'f64':
      into.push(value as Core)
      return
    case 'char':
      into.push((value as string).codePointAt(0) as number)
      return
    case 'string':
      into.push(...storeText(memoryOf(cx), cx.encoding, value as string, cx.budget))
      return
    case 'list':
      into.push(...storeList(cx, type, value as ArrayLike<unknown>))
      return
    case 'record':
    case 'tuple':
      for (const { key, type: part } of type.fields)
        lowerFlat(cx, part, (value as Record<string, unknown>)[key], into)
      return
    case 'variant':
    case 'option':
    case 'result':
    case 'enum':
      lowerVariant(cx, type, value, into)
      return
    case 'flags':
      into.push(bitsOf(type, value) | 0)
      return
    case 'own':
    case 'borrow':
      into.push(lowerHandle(cx, type, value))
      return
  }
}

function lowerVariant(
  cx: ValueContext,
  type: Kind<'variant' | 'option' | 'result' | 'enum'>,
  value: unknown,
  into: Core[],
): void {
  const { index, payload, val } = chosen(type, value)
  const begin = into.length
  into.push(index)
  if (payload !== undefined) lowerFlat(cx, payload, val, into)
  const flat = type.flat as readonly CoreType[]
  const own = payload?.flat ?? []
  for (let at = 1; at < flat.length; at += 1) {
    const wanted = flat[at] as CoreType
    const have = own[at - 1]
    if (have === undefined) into.push(wanted === 'i64' ? 0n : 0)
    else if (have !== wanted) into[begin + at] = widened(into[begin + at] as Core, have, wanted)
  }
}

const CONVERTER: DataView = new DataView(new ArrayBuffer(8))

/** A value as it lies in a slot that it shares with those of other cases. */
function widened(value: Core, have: CoreType, wanted: CoreType): Core {
  CONVERTER.setBigInt64(0, 0n)
  if (have === 'f64') CONVERTER.setFloat64(0, value as number, true)
  else if (have === 'f32') CONVERTER.setFloat32(0, value as number, true)
  else CONVERTER.setInt32(0, value as number, true)
  return wanted === 'i64' ? CONVERTER.getBigInt64(0, true) : CONVERTER.getInt32(0, true)
}

/** Which case a checked value is of, and with what. */
function chosen(
  type: Kind<'variant' | 'option' | 'result' | 'enum'>,
  value: unknown,
): { readonly index: number; readonly payload: WitType | undefined; readonly val: unknown } {
  if (type.kind === 'enum')
    return { index: type.indexOf.get(value as string) as number, payload: undefined, val: undefined }
  if (type.kind === 'option' && !hasUndefined(type.cases[1]?.type as WitType)) {
    const index = value === undefined ? 0 : 1
    return { index, payload: type.cases[index]?.type, val: value }
  }
  const { tag, val } = value as { tag: string; val?: unknown }
  const index = type.indexOf.get(tag) as number
  return { index, payload: type.cases[index]?.type, val }
}

/** @throws GuestFault if the place is none */
export function storeAt(cx: ValueContext, type: WitType, value: unknown, pointer: number): void {
  memoryOf(cx).check(pointer, type.size, type.align)
  store(cx, type, value, pointer)
}

/** To a place that was checked: memories do not shrink. The view is taken anew where guest code may have run. */
function store(cx: ValueContext, type: WitType, value: unknown, pointer: number): void {
  const memory = memoryOf(cx)
  switch (type.kind) {
    case 'bool':
      memory.view.setUint8(pointer, value === true ? 1 : 0)
      return
    case 's8':
    case 'u8':
      memory.view.setUint8(pointer, value as number)
      return
    case 's16':
    case 'u16':
      memory.view.setUint16(pointer, value as number, true)
      return
    case 's32':
    case 'u32':
      memory.view.setUint32(pointer, value as number, true)
      return
    case 's64':
    case 'u64':
      memory.view.setBigUint64(pointer, value as bigint, true)
      return
    case 'f32':
      memory.view.setFloat32(pointer, value as number, true)
      return
    case 'f64':
      memory.view.setFloat64(pointer, value as number, true)
      return
    case 'char':
      memory.view.setUint32(pointer, (value as string).codePointAt(0) as number, true)
      return
    case 'string':
    case 'list': {
      const [begin, length] =
        type.kind === 'string'
          ? storeText(memory, cx.encoding, value as string, cx.budget)
          : storeList(cx, type, value as ArrayLike<unknown>)
      memory.view.setUint32(pointer, begin, true)
      memory.view.setUint32(pointer + 4, length, true)
      return
    }
    case 'record':
    case 'tuple':
      for (const { key, type: part, offset } of type.fields)
        store(cx, part, (value as Record<string, unknown>)[key], pointer + offset)
      return
    case 'variant':
    case 'option':
    case 'result':
    case 'enum': {
      const { index, payload, val } = chosen(type, value)
      storeUnsigned(memory.view, pointer, type.discriminantBytes, index)
      if (payload !== undefined) store(cx, payload, val, pointer + type.payloadOffset)
      return
    }
    case 'flags':
      storeUnsigned(memory.view, pointer, type.size as 1 | 2 | 4, bitsOf(type, value))
      return
    case 'own':
    case 'borrow':
      memory.view.setUint32(pointer, lowerHandle(cx, type, value), true)
      return
  }
}

function storeUnsigned(view: DataView, pointer: number, bytes: 1 | 2 | 4, value: number): void {
  if (bytes === 1) view.setUint8(pointer, value)
  else if (bytes === 2) view.setUint16(pointer, value, true)
  else view.setUint32(pointer, value, true)
}

function storeList(
  cx: ValueContext,
  { element }: Kind<'list'>,
  items: ArrayLike<unknown>,
): readonly [pointer: number, length: number] {
  const memory = memoryOf(cx)
  const { size, align } = element
  const stride = alignTo(size, align)
  const pointer = memory.allocate(align, items.length * stride)
  if (isTyped(element.kind) && ArrayBuffer.isView(items)) {
    const { buffer, byteOffset, byteLength } = items as Uint8Array
    memory.bytes.set(new Uint8Array(buffer, byteOffset, byteLength), pointer)
    return [pointer, items.length]
  }
  for (let index = 0; index < items.length; index += 1)
    store(cx, element, items[index], pointer + index * stride)
  return [pointer, items.length]
}

function bitsOf({ keys }: Kind<'flags'>, value: unknown): number {
  let bits = 0
  for (const [index, key] of keys.entries())
    if ((value as Record<string, boolean>)[key] === true) bits |= 1 << index
  return bits >>> 0
}

function lowerHandle(cx: ValueContext, type: Kind<'own' | 'borrow'>, value: unknown): number {
  const resource = type.resource as LiveResource
  const { handles, scope } = cx
  if (type.kind === 'own') {
    const representation = resource.owner === undefined ? value : GuestResource.take(value, resource)
    return handles.add(resource, representation, true)
  }
  const representation = resource.owner === undefined ? value : GuestResource.borrow(value, resource)
  // Who defined the resource gets what it made of it, and not a handle.
  return resource.owner === handles
    ? (representation as number)
    : handles.add(resource, representation, false, scope)
}
