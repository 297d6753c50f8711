/**
 * ArrayBuffer, typed arrays and DataView.
 *
 * Invariants
 * 1. Views of one buffer arrive as views of one buffer, and the whole buffer is charged, as structured clone
 *    copies it.
 * 2. What can change its size or is shared with others (resizable, shared, detached) is refused.
 */
import { NODE_BYTES } from '../../values/value-meter.ts'
import { ARRAY_BUFFER, CLASS, CLASS_NAMES, OBJECT, TYPED_ARRAY } from './heap-layout.ts'
import { corrupted } from './heap-memory.ts'
import type { HeapReading, Owner, PathStep } from './heap-reading.ts'

type ViewConstructor = new (buffer: ArrayBuffer, offset: number, length: number) => ArrayBufferView

interface ViewKind {
  readonly make: ViewConstructor
  readonly elementBytes: number
}

/** Views by class. `Float16Array` is missing on purpose: hosts disagree on whether it exists. */
const VIEWS: Readonly<Record<number, ViewKind>> = {
  [CLASS.uint8ClampedArray]: { make: Uint8ClampedArray, elementBytes: 1 },
  [CLASS.int8Array]: { make: Int8Array, elementBytes: 1 },
  [CLASS.uint8Array]: { make: Uint8Array, elementBytes: 1 },
  [CLASS.int16Array]: { make: Int16Array, elementBytes: 2 },
  [CLASS.uint16Array]: { make: Uint16Array, elementBytes: 2 },
  [CLASS.int32Array]: { make: Int32Array, elementBytes: 4 },
  [CLASS.uint32Array]: { make: Uint32Array, elementBytes: 4 },
  [CLASS.bigInt64Array]: { make: BigInt64Array, elementBytes: 8 },
  [CLASS.bigUint64Array]: { make: BigUint64Array, elementBytes: 8 },
  [CLASS.float32Array]: { make: Float32Array, elementBytes: 4 },
  [CLASS.float64Array]: { make: Float64Array, elementBytes: 8 },
  [CLASS.dataView]: { make: DataView, elementBytes: 1 },
}

/** Constructor and element size of a class of views, undefined where it cannot cross. */
export function viewKind(classId: number): ViewKind | undefined {
  return VIEWS[classId]
}

export function readBuffer(walk: HeapReading, word: number, owner: Owner, step: PathStep): ArrayBuffer {
  const { memory, meter } = walk
  const { u32 } = memory
  const buffer = memory.block(u32[word + OBJECT.dataWord] as number, ARRAY_BUFFER.size, 'an ArrayBuffer')
  if (((u32[buffer + ARRAY_BUFFER.flagsWord] as number) & ARRAY_BUFFER.detachedMask) !== 0) {
    walk.refuse('a detached ArrayBuffer', owner, step)
  }
  if (u32[buffer + ARRAY_BUFFER.maxLengthWord] !== 0xffff_ffff) {
    walk.refuse('a resizable ArrayBuffer', owner, step)
  }
  const length = u32[buffer + ARRAY_BUFFER.lengthWord] as number
  const data = u32[buffer + ARRAY_BUFFER.dataWord] as number
  if (length > 0x7fff_ffff || data + length > memory.size)
    throw corrupted(`an ArrayBuffer of ${length} bytes`)
  meter.addBytes(length)
  return memory.u8.slice(data, data + length).buffer as ArrayBuffer
}

export function readView(
  walk: HeapReading,
  word: number,
  classId: number,
  owner: Owner,
  step: PathStep,
): ArrayBufferView {
  const { memory } = walk
  const { u32 } = memory
  const kind = viewKind(classId)
  if (kind === undefined) return walk.refuse(`a ${CLASS_NAMES[classId]}`, owner, step)
  const view = memory.block(u32[word + OBJECT.dataWord] as number, TYPED_ARRAY.size, 'a typed array')
  const offset = u32[view + TYPED_ARRAY.offsetWord] as number
  const length = u32[view + TYPED_ARRAY.lengthWord] as number
  walk.meter.addNodes(1)
  walk.meter.addBytes(NODE_BYTES)
  const bufferPointer = u32[view + TYPED_ARRAY.bufferWord] as number
  const bufferClass = walk.objects.classOf(walk.objects.object(bufferPointer))
  // Asked first: a view of itself would be read without end.
  if (bufferClass !== CLASS.arrayBuffer && bufferClass !== CLASS.sharedArrayBuffer) {
    throw corrupted('a typed array stands on something else than a buffer')
  }
  const buffer = walk.object(bufferPointer, owner, step) as ArrayBuffer
  const { elementBytes } = kind
  if (offset + length > buffer.byteLength || offset % elementBytes !== 0 || length % elementBytes !== 0) {
    throw corrupted('a typed array reaches out of its buffer')
  }
  return new kind.make(buffer, offset, length / elementBytes)
}
