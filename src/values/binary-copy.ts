/**
 * Buffers and views of a value: counted, copied, and cut to what the value shows.
 *
 * Invariants
 * 1. A view takes along its whole buffer only when it shows all of it, or when the value holds the buffer in
 *    another place or by another view of all of it. Any other view gets a buffer of just the bytes that it shows:
 *    a Node `Buffer` is a window into a pool with other people's bytes.
 * 2. Views of a buffer that travels whole share its copy, in whatever order they are met.
 * 3. Buffers that another party can change meanwhile are refused.
 */
import type { CopyTable } from './copy-table.ts'
import { bufferByteLength, copyBytes, createView, isUnstableBuffer, viewParts } from './object-parts.ts'
import { NODE_BYTES, type ValueMeter } from './value-meter.ts'

/** Why a buffer or view cannot be copied: the end of a sentence that starts with its path. */
export class BinaryRefused extends TypeError {}

export class BinaryCopy {
  /** Buffers that turned out to travel whole after a view of a part of them was cut: the walk must start again. */
  cutTooEarly: Set<ArrayBuffer> | undefined
  #cut: Set<ArrayBuffer> | undefined
  readonly #table: CopyTable
  readonly #meter: ValueMeter
  readonly #build: boolean
  readonly #whole: ReadonlySet<ArrayBuffer> | undefined

  /**
   * @param build whether to copy; false only counts
   * @param whole buffers known to travel whole, from an earlier walk
   */
  constructor(
    table: CopyTable,
    meter: ValueMeter,
    build: boolean,
    whole: ReadonlySet<ArrayBuffer> | undefined,
  ) {
    this.#table = table
    this.#meter = meter
    this.#build = build
    this.#whole = whole
  }

  /** The copy of a buffer that was not met before. @throws BinaryRefused, CaissonError `value_too_large` */
  buffer(source: ArrayBuffer): ArrayBuffer | undefined {
    refuseUnstable(source)
    const length = bufferByteLength(source)
    this.#meter.addBytes(length)
    if (this.#cut?.has(source)) {
      this.cutTooEarly ??= new Set()
      this.cutTooEarly.add(source)
    }
    return this.#table.add(source, this.#build ? copyBytes(source, 0, length) : undefined)
  }

  /** The copy of a view that was not met before. @throws BinaryRefused, CaissonError `value_too_large` */
  view(source: object): ArrayBufferView | undefined {
    const { buffer, byteOffset, byteLength, type } = viewParts(source)
    if (type < 0) throw new BinaryRefused('is a typed array of an unknown kind')
    refuseUnstable(buffer)
    this.#meter.addNodes(1)
    this.#meter.addBytes(NODE_BYTES)
    const known = this.#table.find(buffer)
    if (known >= 0) {
      this.#meter.addBytes(NODE_BYTES)
      const copy = this.#table.copyOf(known) as ArrayBuffer | undefined
      return this.#table.add(source, copy && createView(type, copy, byteOffset, byteLength))
    }
    if (byteLength === bufferByteLength(buffer) || this.#whole?.has(buffer)) {
      const copy = this.buffer(buffer)
      return this.#table.add(source, copy && createView(type, copy, byteOffset, byteLength))
    }
    this.#cut ??= new Set()
    this.#cut.add(buffer)
    this.#meter.addBytes(byteLength)
    if (!this.#build) return this.#table.add(source, undefined)
    return this.#table.add(source, createView(type, copyBytes(buffer, byteOffset, byteLength), 0, byteLength))
  }
}

function refuseUnstable(buffer: object): void {
  if (isUnstableBuffer(buffer)) throw new BinaryRefused('has a shared, resizable or detached buffer')
}
