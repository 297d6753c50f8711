/**
 * Value types as plain numbers, so that they compare and hash without objects.
 *
 * A number below 0x80 is the type's own byte (i32 is 0x7f, funcref 0x70). A negative one is a reference to an
 * abstract heap type that cannot be null. From 0x100 on it is a reference to a defined type: index times two,
 * plus one if it cannot be null; in all cases offset by 0x100.
 */
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import { invalidModule, unsupportedFeature } from './module-error.ts'

/** A value type; see the module header for the encoding. */
export type ValueType = number

// f32 (0x7d), f64 (0x7c) and exnref (0x69) have no name here: nothing asks for them.
export const I32 = 0x7f
export const I64 = 0x7e
export const V128 = 0x7b
export const FUNCREF = 0x70
export const EXTERNREF = 0x6f

const REF = 0x64
const REF_NULL = 0x63
const DEFINED = 0x100

/** Heap types that need no garbage collector: func, extern, exn, and their bottom types. */
const ABSTRACT_HEAP: ReadonlySet<number> = new Set([0x70, 0x6f, 0x69, 0x72, 0x73, 0x74])
/** any, eq, i31, struct, array, none */
const GC_HEAP: ReadonlySet<number> = new Set([0x6e, 0x6d, 0x6c, 0x6b, 0x6a, 0x71])

function checkHeapByte(byte: number, offset: number): number {
  if (ABSTRACT_HEAP.has(byte)) return byte
  if (GC_HEAP.has(byte)) throw unsupportedFeature('garbage-collected types', offset)
  if (byte === 0x68 || byte === 0x75) throw unsupportedFeature('stack switching', offset)
  throw invalidModule(`Unknown type 0x${byte.toString(16)}`, offset)
}

/**
 * Reads a heap type: the byte of an abstract one, or `0x100 + index * 2` for a defined one.
 *
 * @param typeCount how many types there are: an index must be below.
 */
export function readHeapType(reader: ByteReader, typeCount: number): number {
  const offset = reader.offset
  const heap = reader.s33()
  if (heap < 0) return checkHeapByte(heap + 0x80, offset)
  if (heap >= typeCount) throw invalidModule(`There is no type ${heap}`, offset)
  return DEFINED + heap * 2
}

/** Reads a value type. */
export function readValueType(reader: ByteReader, typeCount: number): ValueType {
  const offset = reader.offset
  const byte = reader.byte()
  if (byte >= V128 && byte <= I32) return byte
  if (byte === REF_NULL) return readHeapType(reader, typeCount)
  if (byte === REF) {
    const heap = readHeapType(reader, typeCount)
    return heap < DEFINED ? -heap : heap + 1
  }
  return checkHeapByte(byte, offset)
}

/** Writes a value type. */
export function writeValueType(writer: ByteWriter, type: ValueType): void {
  if (type < 0) {
    writer.byte(REF)
    writer.byte(-type)
  } else if (type < DEFINED) {
    writer.byte(type)
  } else {
    writer.byte((type & 1) === 1 ? REF : REF_NULL)
    writer.signed((type - DEFINED) >> 1)
  }
}

/** Whether values of this type are references. */
export function isReference(type: ValueType): boolean {
  return type < V128 || type >= DEFINED
}

/** Whether the type needs the typed function references proposal. */
export function isTypedReference(type: ValueType): boolean {
  return type < 0 || type >= DEFINED
}
