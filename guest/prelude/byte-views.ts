/** Buffers and their views, as the engine has them, whatever a guest says of them or made of their classes. */
import type { Primordials } from './primordials.ts'

/** What a view shows. */
export interface ViewParts {
  readonly buffer: ArrayBuffer
  readonly at: number
  /** Bytes. */
  readonly length: number
  /** Of its class; undefined for a `DataView`. */
  readonly name: string | undefined
}

export interface ByteViews {
  /** @throws TypeError for what is no view, or one of a buffer that can be shared or resized */
  readonly partsOf: (view: unknown) => ViewParts
  readonly viewOf: (
    name: string | undefined,
    buffer: ArrayBuffer,
    at: number,
    length: number,
  ) => ArrayBufferView
  /** Bytes of an element of a class of views. */
  readonly sizeOf: (name: string | undefined) => number
  /** The same bytes in a buffer of our own. @throws TypeError if it was given away already */
  readonly transfer: (buffer: ArrayBuffer) => ArrayBuffer
  readonly slice: (buffer: ArrayBuffer, from: number, to: number) => ArrayBuffer
  readonly isDetached: (buffer: ArrayBuffer) => boolean
  readonly lengthOf: (buffer: ArrayBuffer) => number
  readonly copy: (target: ArrayBuffer, at: number, source: ArrayBuffer, from: number, count: number) => void
}

type ViewClass = new (buffer: ArrayBuffer, at: number, length: number) => ArrayBufferView

const NAMES =
  'Int8Array,Uint8Array,Uint8ClampedArray,Int16Array,Uint16Array,Int32Array,Uint32Array,Float16Array,Float32Array,Float64Array,BigInt64Array,BigUint64Array'

/** Captures what they need. */
export function byteViews({ apply, typedArrayName }: Primordials): ByteViews {
  const getter = (prototype: object, name: string): unknown =>
    Object.getOwnPropertyDescriptor(prototype, name)?.get
  const gettersOf = (prototype: object): readonly [unknown, unknown, unknown] => [
    getter(prototype, 'buffer'),
    getter(prototype, 'byteOffset'),
    getter(prototype, 'byteLength'),
  ]
  const { isView, prototype: buffers } = ArrayBuffer
  const arrays = Object.getPrototypeOf(Uint8Array.prototype) as Uint8Array
  const ofArrays = gettersOf(arrays)
  const ofDataViews = gettersOf(DataView.prototype)
  const { set } = arrays
  const { slice, transferToFixedLength } = buffers as ArrayBuffer & { transferToFixedLength: unknown }
  const detached = getter(buffers, 'detached')
  const resizable = getter(buffers, 'resizable')
  const byteLength = getter(buffers, 'byteLength')
  const classes: Record<string, readonly [ViewClass, number]> = Object.create(null)
  for (const name of NAMES.split(',')) {
    const made = (globalThis as unknown as Record<string, ViewClass & { BYTES_PER_ELEMENT: number }>)[name]
    if (made) classes[name] = [made, made.BYTES_PER_ELEMENT]
  }
  const DataViews = DataView
  const Bytes = Uint8Array

  return {
    partsOf: (view) => {
      if (!isView(view)) throw new TypeError('It takes a view of an ArrayBuffer.')
      const name = typedArrayName(view)
      const getters = name === undefined ? ofDataViews : ofArrays
      const buffer = apply(getters[0], view, []) as ArrayBuffer
      // Of a shared buffer the getter throws a TypeError by itself.
      if (apply(resizable, buffer, [])) throw new TypeError('It takes no buffer that can be resized.')
      const at = apply(getters[1], view, []) as number
      return { buffer, at, length: apply(getters[2], view, []) as number, name }
    },
    viewOf: (name, buffer, at, length) => new (classes[name as string]?.[0] ?? DataViews)(buffer, at, length),
    sizeOf: (name) => classes[name as string]?.[1] ?? 1,
    transfer: (buffer) => apply(transferToFixedLength, buffer, []) as ArrayBuffer,
    slice: (buffer, from, to) => apply(slice, buffer, [from, to]) as ArrayBuffer,
    isDetached: (buffer) => apply(detached, buffer, []) as boolean,
    lengthOf: (buffer) => apply(byteLength, buffer, []) as number,
    copy: (target, at, source, from, count) => {
      apply(set, new Bytes(target, at, count), [new Bytes(source, from, count)])
    },
  }
}
