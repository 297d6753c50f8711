/**
 * Takes objects of each kind apart and makes them, by captured getters of the language, so that neither own
 * properties that shadow them nor subclasses that override them run or lie.
 *
 * Every function throws a `TypeError` when the object is not what `kindOf` said (it cannot be, but for Proxies)
 * or when its memory is gone (a detached buffer).
 */

type Getter = (this: unknown) => unknown

function getter(prototype: object, key: PropertyKey): Getter {
  const found = Object.getOwnPropertyDescriptor(prototype, key)?.get
  if (found === undefined) throw new TypeError(`This runtime has no getter for ${String(key)}.`)
  return found
}

function optionalGetter(prototype: object, key: PropertyKey): Getter | undefined {
  return Object.getOwnPropertyDescriptor(prototype, key)?.get
}

// --- Properties

/** Whether `key` is the name of an element of arrays: a whole number below 2^32 - 1 in its shortest form. */
export function isArrayIndex(key: string): boolean {
  const index = Number(key)
  return Number.isInteger(index) && index >= 0 && index < 2 ** 32 - 1 && String(index) === key
}

/** Gives a fresh object an own data property. `__proto__` is a key like any other. */
export function setProperty(target: object, key: string, value: unknown): void {
  if (key !== '__proto__') (target as Record<string, unknown>)[key] = value
  else Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
}

// --- Dates and boxed primitives

const dateGetTime = Date.prototype.getTime

/** Milliseconds since the epoch, NaN for an invalid date. */
export function dateTime(value: object): number {
  return dateGetTime.call(value as Date)
}

const unbox: readonly Getter[] = [
  Number.prototype.valueOf,
  String.prototype.valueOf,
  Boolean.prototype.valueOf,
  BigInt.prototype.valueOf,
]

/** The primitive inside `new Number(1)` and the like. */
export function boxedPrimitive(value: object): number | string | boolean | bigint {
  for (const take of unbox) {
    try {
      return take.call(value) as number | string | boolean | bigint
    } catch {
      // Not this kind of box.
    }
  }
  throw new TypeError('Not a boxed primitive.')
}

// --- Regular expressions

const regExpSource = getter(RegExp.prototype, 'source')
/** In the order in which `RegExp.prototype.flags` lists them. */
const regExpFlags: readonly (readonly [flag: string, get: Getter])[] = (
  [
    ['d', 'hasIndices'],
    ['g', 'global'],
    ['i', 'ignoreCase'],
    ['m', 'multiline'],
    ['s', 'dotAll'],
    ['u', 'unicode'],
    ['v', 'unicodeSets'],
    ['y', 'sticky'],
  ] as const
).flatMap(([flag, key]) => {
  const get = optionalGetter(RegExp.prototype, key)
  return get === undefined ? [] : [[flag, get] as const]
})

/** Source and flags; `lastIndex` does not travel, as with `structuredClone`. */
export function regExpParts(value: object): { source: string; flags: string } {
  const source = regExpSource.call(value) as string
  let flags = ''
  for (const [flag, get] of regExpFlags) if (get.call(value) === true) flags += flag
  return { source, flags }
}

// --- Buffers and views

const byteLength = getter(ArrayBuffer.prototype, 'byteLength')
const resizable = optionalGetter(ArrayBuffer.prototype, 'resizable')
const sharedByteLength =
  typeof SharedArrayBuffer === 'undefined'
    ? undefined
    : optionalGetter(SharedArrayBuffer.prototype, 'byteLength')

/** Length of a fixed, unshared buffer. */
export function bufferByteLength(buffer: ArrayBuffer): number {
  return byteLength.call(buffer) as number
}

/** Whether `buffer` is shared or resizable, so that another party can change it under us, or is detached. */
export function isUnstableBuffer(buffer: object): boolean {
  if (sharedByteLength !== undefined) {
    try {
      sharedByteLength.call(buffer)
      return true
    } catch {
      // Not shared.
    }
  }
  if (resizable !== undefined && resizable.call(buffer) === true) return true
  return bufferByteLength(buffer as ArrayBuffer) === 0 && isDetached(buffer as ArrayBuffer)
}

function isDetached(emptyBuffer: ArrayBuffer): boolean {
  try {
    new Uint8Array(emptyBuffer)
    return false
  } catch {
    return true
  }
}

/** A fresh buffer with the bytes `[start, start + length)` of `buffer`. Not `slice`, which asks the species of its receiver. */
export function copyBytes(buffer: ArrayBuffer, start: number, length: number): ArrayBuffer {
  const copy = new Uint8Array(length)
  copy.set(new Uint8Array(buffer, start, length))
  return copy.buffer
}

type ViewConstructor = new (buffer: ArrayBuffer, byteOffset: number, length: number) => ArrayBufferView

const typedArrayPrototype: object = Object.getPrototypeOf(Uint8Array.prototype)
const typedArrayName = getter(typedArrayPrototype, Symbol.toStringTag)
const typedArrayBuffer = getter(typedArrayPrototype, 'buffer')
const typedArrayByteOffset = getter(typedArrayPrototype, 'byteOffset')
const typedArrayByteLength = getter(typedArrayPrototype, 'byteLength')
const dataViewBuffer = getter(DataView.prototype, 'buffer')
const dataViewByteOffset = getter(DataView.prototype, 'byteOffset')
const dataViewByteLength = getter(DataView.prototype, 'byteLength')

interface ViewType {
  readonly name: string
  readonly create: ViewConstructor
  readonly elementBytes: number
}

const float16 = (globalThis as { Float16Array?: ViewConstructor }).Float16Array

/**
 * Every kind of view; the position in this list is its number in the canonical encoding, so the order is
 * frozen. `Float16Array` is undefined on runtimes that lack it.
 */
export const VIEW_TYPES: readonly (ViewType | undefined)[] = [
  { name: 'DataView', create: DataView, elementBytes: 1 },
  { name: 'Int8Array', create: Int8Array, elementBytes: 1 },
  { name: 'Uint8Array', create: Uint8Array, elementBytes: 1 },
  { name: 'Uint8ClampedArray', create: Uint8ClampedArray, elementBytes: 1 },
  { name: 'Int16Array', create: Int16Array, elementBytes: 2 },
  { name: 'Uint16Array', create: Uint16Array, elementBytes: 2 },
  { name: 'Int32Array', create: Int32Array, elementBytes: 4 },
  { name: 'Uint32Array', create: Uint32Array, elementBytes: 4 },
  { name: 'Float32Array', create: Float32Array, elementBytes: 4 },
  { name: 'Float64Array', create: Float64Array, elementBytes: 8 },
  { name: 'BigInt64Array', create: BigInt64Array, elementBytes: 8 },
  { name: 'BigUint64Array', create: BigUint64Array, elementBytes: 8 },
  float16 && { name: 'Float16Array', create: float16, elementBytes: 2 },
]

/** A view taken apart. */
export interface ViewParts {
  readonly buffer: ArrayBuffer
  readonly byteOffset: number
  readonly byteLength: number
  /** Position in `VIEW_TYPES`; -1 for a kind that this library does not know. */
  readonly type: number
}

export function viewParts(value: object): ViewParts {
  const name = typedArrayName.call(value) as string | undefined
  const isDataView = name === undefined
  return {
    buffer: (isDataView ? dataViewBuffer : typedArrayBuffer).call(value) as ArrayBuffer,
    byteOffset: (isDataView ? dataViewByteOffset : typedArrayByteOffset).call(value) as number,
    byteLength: (isDataView ? dataViewByteLength : typedArrayByteLength).call(value) as number,
    type: VIEW_TYPES.findIndex((type) => type?.name === (name ?? 'DataView')),
  }
}

/** A view of kind `type` over `buffer`. `byteLength` must be a multiple of the kind's element. */
export function createView(
  type: number,
  buffer: ArrayBuffer,
  byteOffset: number,
  byteLength: number,
): ArrayBufferView {
  const view = VIEW_TYPES[type]
  if (view === undefined) throw new TypeError('This runtime lacks this kind of typed array.')
  return new view.create(buffer, byteOffset, byteLength / view.elementBytes)
}
