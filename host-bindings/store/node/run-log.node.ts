/**
 * The log of a run: one or more segment files, of which at most the last still grows.
 *
 * 1. Every holder appends to a segment of its own. What a late holder still writes goes into a file that the newest
 *    one has sealed at a length, and is read by nobody.
 * 2. A segment up to 256 KiB is copied into the next one instead of staying beside it, so the number of files follows
 *    the size of the log, not the number of holders.
 * 3. After a failed write or sync nothing more is appended to that file: what the disk made of it is not known.
 * 4. What is torn at the end was never acknowledged, and is cut. What is damaged before that is refused.
 * 5. Whoever takes a run writes anew what the last holder appended since the state was replaced: it may stand in the
 *    memory of the machine only, where the sync of that holder failed.
 */
import { concatBytes, toHex } from '../../../src/base/bytes.ts'
import {
  type Batch,
  BatchReader,
  encodeBatch,
  SEGMENT_HEADER_BYTES,
  segmentHeader,
} from './log-batch.node.ts'
import type { SegmentRecord } from './run-state.node.ts'
import { damaged } from './store-error.ts'
import { createFile, openToRead, openToWrite, removeQuietly, writeAll } from './store-files.node.ts'
import type { StoreFile, StoreFolder } from './store-folder.ts'

const ABSORBED_BYTES = 256 * 1024
const ALL = Number.MAX_SAFE_INTEGER

/** Where batches begin, as far as they were read, so that a reader need not begin at the start. */
interface SegmentIndex {
  readonly starts: { readonly offset: number; readonly first: number }[]
  /** What follows the last batch that was read. */
  next: { readonly offset: number; readonly first: number }
}

/** How many entries a log with these segments has. */
export function lengthOf(log: readonly SegmentRecord[]): number {
  const last = log.at(-1)
  return last === undefined ? 0 : last.first + last.entries
}

export class RunLog {
  readonly #folder: StoreFolder
  readonly #indexes = new Map<string, SegmentIndex>()
  #appended: { readonly id: string; readonly file: StoreFile } | undefined

  /** @param folder of the run; nothing else makes files named `log-…` in it */
  constructor(folder: StoreFolder) {
    this.#folder = folder
  }

  /**
   * Entries from number `from` on, at most `most`. Of an open segment as many as there are, also unacknowledged ones.
   * Rejects with ENOENT when a segment is gone.
   * @throws CaissonError `corrupted`
   */
  async read(log: readonly SegmentRecord[], from: number, most: number): Promise<readonly Uint8Array[]> {
    const known = new Set(log.map(({ id }) => id))
    for (const id of this.#indexes.keys()) if (!known.has(id)) this.#indexes.delete(id)
    const found: Uint8Array[] = []
    for (const segment of log) {
      if (found.length >= most) break
      if (!segment.open && segment.first + segment.entries <= from) continue
      for (const entry of await this.#readSegment(segment, from, most - found.length)) found.push(entry)
    }
    return found
  }

  /**
   * Whole entries of an open segment behind those that its record has, after its holder is gone: its torn end cut off.
   * Some of them were acknowledged, and some may not be durable, so they are to be written anew.
   * @throws CaissonError `corrupted` when it holds less than was acknowledged, or is damaged in the middle
   */
  async tail(segment: SegmentRecord): Promise<readonly Uint8Array[]> {
    const file = await openToRead(this.#folder, fileOf(segment))
    try {
      const { size } = await file.stat()
      const reader = new BatchReader(file, segment.id)
      const known = segment.first + segment.entries
      const tail: Uint8Array[] = []
      const take = (batch: Batch): boolean => {
        if (batch.first >= known) tail.push(...batch.entries)
        return true
      }
      const next = await this.#scan(reader, segment, size, take, segment.first)
      if (next.offset < size && (await reader.hasBatchBehind(next.offset, size))) {
        throw damaged('a log file is damaged before its end', { segment: segment.id, offset: next.offset })
      }
      checkComplete(segment, next)
      return tail
    } finally {
      await file.close()
    }
  }

  /**
   * Begins a segment with `entries`, durably. It counts when the state of the run names it.
   * @param log as acknowledged, sealed
   * @returns the log with the new segment, open, at its end
   */
  async start(
    log: readonly SegmentRecord[],
    entries: readonly Uint8Array[],
  ): Promise<readonly SegmentRecord[]> {
    const last = log.at(-1)
    const absorbed = last !== undefined && last.bytes <= ABSORBED_BYTES ? last : undefined
    const before = absorbed === undefined ? [] : await this.#readSegment(absorbed, 0, ALL)
    const id = toHex(crypto.getRandomValues(new Uint8Array(16)))
    const first = absorbed?.first ?? lengthOf(log)
    const parts = [await absorbedInto(id, first, before)]
    let [{ length: bytes }] = parts as [Uint8Array]
    if (entries.length > 0) {
      const batch = await encodeBatch(id, bytes, first + before.length, entries)
      parts.push(batch)
      bytes += batch.length
    }
    const segment: SegmentRecord = { id, first, entries: before.length + entries.length, bytes, open: true }
    await this.close()
    const file = await createFile(this.#folder, fileOf(segment))
    try {
      let at = 0
      for (const part of parts) {
        await writeAll(file, part, at)
        at += part.length
      }
      await file.datasync()
      // The state that names it must not reach the disk before its name does.
      await this.#folder.sync()
    } catch (error) {
      await file.close()
      await removeQuietly(this.#folder, fileOf(segment))
      throw error
    }
    this.#appended = { id, file }
    return [...(absorbed === undefined ? log : log.slice(0, -1)), segment]
  }

  /** Adds entries to the open segment, durably. @returns the segment with them */
  async append(segment: SegmentRecord, entries: readonly Uint8Array[]): Promise<SegmentRecord> {
    const bytes = await encodeBatch(segment.id, segment.bytes, segment.first + segment.entries, entries)
    const file = await this.#toAppend(segment)
    await writeAll(file, bytes, segment.bytes)
    await file.datasync()
    return {
      ...segment,
      entries: segment.entries + entries.length,
      bytes: segment.bytes + bytes.length,
    }
  }

  /** Removes the files of segments that the state of the run does not name any more, or never did. */
  async drop(segments: readonly SegmentRecord[]): Promise<void> {
    for (const segment of segments) {
      if (this.#appended?.id === segment.id) await this.close()
      await removeQuietly(this.#folder, fileOf(segment))
    }
  }

  async close(): Promise<void> {
    const file = this.#appended?.file
    this.#appended = undefined
    await file?.close()
  }

  async #toAppend(segment: SegmentRecord): Promise<StoreFile> {
    if (this.#appended?.id === segment.id) return this.#appended.file
    await this.close()
    const file = await openToWrite(this.#folder, fileOf(segment))
    this.#appended = { id: segment.id, file }
    return file
  }

  async #readSegment(segment: SegmentRecord, from: number, most: number): Promise<readonly Uint8Array[]> {
    const file = await openToRead(this.#folder, fileOf(segment))
    try {
      const limit = segment.open ? (await file.stat()).size : segment.bytes
      const found: Uint8Array[] = []
      const take = (batch: Batch): boolean => {
        for (const entry of batch.entries.slice(Math.max(0, from - batch.first))) {
          if (found.length < most) found.push(entry)
        }
        return found.length < most
      }
      const next = await this.#scan(new BatchReader(file, segment.id), segment, limit, take, from)
      if (found.length < most) checkComplete(segment, next)
      return found
    } finally {
      await file.close()
    }
  }

  /**
   * Reads batches from the one that has entry `from` on (default: from the first that was not read before), as long
   * as `take` wants more. @returns what follows the last one
   */
  async #scan(
    reader: BatchReader,
    segment: SegmentRecord,
    limit: number,
    take: (batch: Batch) => boolean,
    from = ALL,
  ): Promise<SegmentIndex['next']> {
    let index = this.#indexes.get(segment.id)
    if (index === undefined) {
      await reader.checkHeader()
      index = { starts: [], next: { offset: SEGMENT_HEADER_BYTES, first: segment.first } }
      this.#indexes.set(segment.id, index)
    }
    // Where `from` lies behind what is known, nothing known has to be read again.
    let at = index.next
    if (from < index.next.first)
      at = index.starts.findLast(({ first }) => first <= from) ?? index.starts[0] ?? at
    for (;;) {
      const batch = await reader.read(at.offset, limit, at.first)
      if (batch === undefined) return at
      const next = { offset: batch.end, first: batch.first + batch.entries.length }
      if (at.offset === index.next.offset) {
        index.starts.push(at)
        index.next = next
      }
      at = next
      if (!take(batch)) return at
    }
  }
}

/** The beginning of a segment: each entry in a batch of its own, so that damage is found at the entry that it is in. */
async function absorbedInto(id: string, first: number, entries: readonly Uint8Array[]): Promise<Uint8Array> {
  const parts = [segmentHeader(id)]
  let bytes = SEGMENT_HEADER_BYTES
  for (const [index, entry] of entries.entries()) {
    const batch = await encodeBatch(id, bytes, first + index, [entry])
    parts.push(batch)
    bytes += batch.length
  }
  return concatBytes(parts, bytes)
}

/** A sealed segment ends exactly where its record says; an open one not before. */
function checkComplete(segment: SegmentRecord, next: SegmentIndex['next']): void {
  const entries = next.first - segment.first
  const complete = segment.open ? entries >= segment.entries : next.offset === segment.bytes
  if (complete && (segment.open || entries === segment.entries)) return
  throw damaged(`a log file holds something else than was acknowledged, from entry ${next.first} on`, {
    entry: next.first,
    segment: segment.id,
    entries,
    acknowledged: segment.entries,
  })
}

function fileOf(segment: SegmentRecord): string {
  return `log-${segment.id}`
}
