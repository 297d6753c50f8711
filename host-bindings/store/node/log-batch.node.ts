/**
 * Log entries as bytes of a segment file: whole or not at all, also after a crash in the middle of writing.
 *
 *     file:  "CSNLOG", version 1, version 0; 16 bytes id; then batches
 *     batch: "CSNB", u32 length of the payload, u32 number of entries, u64 number of the first entry, payload,
 *            the first 16 bytes of SHA-256 over the id, u64 offset of the batch, and all of the batch before
 *     payload: for each entry u32 length and the bytes
 *
 * Little-endian. The checksum holds the id, which is random, and the offset: no entry, whatever a guest put into it,
 * looks like a batch, and no batch is taken for one in another place.
 */
import { createHash } from 'node:crypto'
import { fromHex } from '../../../src/base/bytes.ts'
import { damaged } from './store-error.ts'
import { readAt } from './store-files.node.ts'
import type { StoreFile } from './store-folder.ts'

/** Bytes before the first batch. */
export const SEGMENT_HEADER_BYTES = 24
const SEGMENT_MAGIC = Uint8Array.from([0x43, 0x53, 0x4e, 0x4c, 0x4f, 0x47, 1, 0])
/** "CSNB" as a little-endian number. */
const BATCH_MAGIC = 0x424e5343
const BATCH_HEADER_BYTES = 20
const CHECKSUM_BYTES = 16
const LENGTH_BYTES = 4
/** Hashed at once, between which the host's loop runs: about a millisecond. */
const PIECE_BYTES = 1024 * 1024

/** Entries that were appended together, where they stand in their file. */
export interface Batch {
  readonly offset: number
  /** Offset of what follows. */
  readonly end: number
  /** Number of the first entry. */
  readonly first: number
  readonly entries: readonly Uint8Array[]
}

/** The bytes that a segment file begins with. */
export function segmentHeader(id: string): Uint8Array {
  const header = new Uint8Array(SEGMENT_HEADER_BYTES)
  header.set(SEGMENT_MAGIC)
  header.set(fromHex(id), SEGMENT_MAGIC.length)
  return header
}

/** The bytes of one batch that will stand at `offset` of the segment `id`. */
export async function encodeBatch(
  id: string,
  offset: number,
  first: number,
  entries: readonly Uint8Array[],
): Promise<Uint8Array> {
  const payloadBytes = entries.reduce((sum, entry) => sum + LENGTH_BYTES + entry.byteLength, 0)
  const bytes = new Uint8Array(BATCH_HEADER_BYTES + payloadBytes + CHECKSUM_BYTES)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, BATCH_MAGIC, true)
  view.setUint32(4, payloadBytes, true)
  view.setUint32(8, entries.length, true)
  view.setBigUint64(12, BigInt(first), true)
  let at = BATCH_HEADER_BYTES
  for (const entry of entries) {
    view.setUint32(at, entry.byteLength, true)
    bytes.set(entry, at + LENGTH_BYTES)
    at += LENGTH_BYTES + entry.byteLength
  }
  bytes.set(await checksum(id, offset, bytes.subarray(0, at)), at)
  return bytes
}

/** Reads the batches of one segment file. */
export class BatchReader {
  readonly #file: StoreFile
  readonly #id: string
  /** Bytes from `#from` on, read ahead: batches are mostly small. */
  #ahead: Uint8Array = new Uint8Array(0)
  #from = 0

  constructor(file: StoreFile, id: string) {
    this.#file = file
    this.#id = id
  }

  /** @throws CaissonError `corrupted` where the file does not begin as this segment does */
  async checkHeader(): Promise<void> {
    const expected = segmentHeader(this.#id)
    const found = await this.#bytes(0, SEGMENT_HEADER_BYTES)
    if (found.length !== expected.length || found.some((byte, i) => byte !== expected[i])) {
      throw damaged('a log file does not begin as it should', { segment: this.#id })
    }
  }

  /**
   * The batch that begins at `offset` and ends at `limit` at the latest; undefined where there is none, or not all.
   * @param first number that its first entry must have; left out: any
   */
  async read(offset: number, limit: number, first?: number): Promise<Batch | undefined> {
    if (offset + BATCH_HEADER_BYTES + CHECKSUM_BYTES > limit) return undefined
    const header = await this.#bytes(offset, BATCH_HEADER_BYTES)
    if (header.length < BATCH_HEADER_BYTES) return undefined
    const view = new DataView(header.buffer, header.byteOffset, header.byteLength)
    if (view.getUint32(0, true) !== BATCH_MAGIC) return undefined
    const payloadEnd = BATCH_HEADER_BYTES + view.getUint32(4, true)
    const end = offset + payloadEnd + CHECKSUM_BYTES
    const number = Number(view.getBigUint64(12, true))
    if (end > limit || (first !== undefined && number !== first)) return undefined
    const bytes = await this.#bytes(offset, end - offset)
    if (bytes.length < end - offset) return undefined
    const sum = await checksum(this.#id, offset, bytes.subarray(0, payloadEnd))
    if (sum.some((byte, i) => byte !== bytes[payloadEnd + i])) return undefined
    const count = view.getUint32(8, true)
    return {
      offset,
      end,
      first: number,
      entries: split(bytes.subarray(BATCH_HEADER_BYTES, payloadEnd), count),
    }
  }

  /** Whether any batch stands whole behind `offset`, where none does. */
  async hasBatchBehind(offset: number, limit: number): Promise<boolean> {
    for (let at = offset + 1; at + BATCH_HEADER_BYTES + CHECKSUM_BYTES <= limit; at++) {
      const piece = await this.#bytes(at, Math.min(PIECE_BYTES, limit - at))
      const found = findMagic(piece)
      if (found === undefined) {
        at += Math.max(0, piece.length - LENGTH_BYTES)
        continue
      }
      at += found
      if ((await this.read(at, limit)) !== undefined) return true
    }
    return false
  }

  async #bytes(offset: number, length: number): Promise<Uint8Array> {
    const start = offset - this.#from
    if (start < 0 || start + length > this.#ahead.length) {
      this.#ahead = await readAt(this.#file, offset, Math.max(length, 64 * 1024))
      this.#from = offset
      return this.#ahead.subarray(0, length)
    }
    return this.#ahead.subarray(start, start + length)
  }
}

/** Copies of the entries. The checksum was right, so what contradicts itself here was made so. */
function split(payload: Uint8Array, count: number): readonly Uint8Array[] {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength)
  const entries: Uint8Array[] = []
  let at = 0
  while (at + LENGTH_BYTES <= payload.length) {
    const end = at + LENGTH_BYTES + view.getUint32(at, true)
    if (end > payload.length) break
    entries.push(payload.slice(at + LENGTH_BYTES, end))
    at = end
  }
  if (at !== payload.length || entries.length !== count)
    throw damaged('a batch of the log contradicts itself')
  return entries
}

function findMagic(bytes: Uint8Array): number | undefined {
  for (let at = bytes.indexOf(0x43); at >= 0; at = bytes.indexOf(0x43, at + 1)) {
    if (bytes[at + 1] === 0x53 && bytes[at + 2] === 0x4e && bytes[at + 3] === 0x42) return at
  }
  return undefined
}

async function checksum(id: string, offset: number, bytes: Uint8Array): Promise<Uint8Array> {
  const place = new Uint8Array(8)
  new DataView(place.buffer).setBigUint64(0, BigInt(offset), true)
  const hash = createHash('sha256').update(fromHex(id)).update(place)
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    if (at > 0) await new Promise<void>((resolve) => setImmediate(resolve))
    hash.update(bytes.subarray(at, at + PIECE_BYTES))
  }
  return hash.digest().subarray(0, CHECKSUM_BYTES)
}
