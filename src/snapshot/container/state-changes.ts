/**
 * The state of a machine as copies out of that of its parent, with what is new between them.
 *
 * It is mostly names, limits, console lines and pending calls, which stay as they are from checkpoint to checkpoint. A
 * guest can make it large, and must not make each of its checkpoints large by that.
 *
 * Invariants
 * 1. `applyStateChanges` of what `encodeStateChanges` wrote gives the same state.
 * 2. Hostile bytes read inside of the parent's state only, and give exactly as many bytes as announced.
 */
import { ByteReader } from '../../base/byte-reader.ts'
import { ByteWriter } from '../../base/byte-writer.ts'
import { unzigzag, zigzag } from './zigzag.ts'

/** Above, a state is written whole: comparing it would block the host. */
const MAX_STATE_BYTES = 2 * 1024 * 1024
/** Above, copies are found by samples of the parent's state, and a state with much that is new is written whole. */
const LARGE_STATE_BYTES = 65_536
/** What may be searched for in a large one, in bytes that are new: some milliseconds. */
const MOST_SEARCHED = 32_768
/** What a look nearby counts for, against one into the table. */
const NEAR_COST = 20
/** New bytes in a row after which what follows is not near in a large state. */
const LONG_NEW_BYTES = 64

/** What a copy must give to be worth its two or three bytes: where it goes on in step with the one before, and elsewhere. */
const MIN_IN_STEP = 4
const MIN_ELSEWHERE = 6

/**
 * Numbers change, and may get longer or shorter by a few digits: so far is looked on before all of the parent's state is
 * searched.
 */
const NEAR_BYTES = 20
const NEAR_SHIFTS: readonly number[] = [0, 1, -1, 2, -2, 3, -3]
/** What must be the same there, so that digits that happen to be do not count. */
const MIN_NEAR = 8

/** Bytes from which on the platform copies faster than a loop. */
const LONG_COPY = 128

const TABLE_BITS = 12
/** Where in the parent's state a sequence was seen last, plus one. */
const seen = new Uint32Array(1 << TABLE_BITS)

/** Filled anew each time. */
const writer = new ByteWriter(512)

/** Undefined when the states are too large for it, or have too little in common. */
export function encodeStateChanges(before: Uint8Array, after: Uint8Array): Uint8Array | undefined {
  if (before.length > MAX_STATE_BYTES || after.length > MAX_STATE_BYTES) return undefined
  writer.clear()
  /** Where new bytes began, and where the copy before them ended. */
  let literal = 0
  let copied = 0
  let at = 0
  let isIndexed = false
  const isLarge = Math.max(before.length, after.length) > LARGE_STATE_BYTES
  let searched = 0
  while (at < after.length) {
    let from = copied + at - literal
    if (matchLength(before, from, after, at) < MIN_IN_STEP) {
      const looksNear = !isLarge || at - literal < LONG_NEW_BYTES
      searched += looksNear ? NEAR_COST : 1
      if (isLarge && searched > MOST_SEARCHED) return undefined
      const near = looksNear ? findNear(before, from, after, at) : -1
      if (near >= 0) {
        const ahead = Math.floor(near / NEAR_SHIFTS.length)
        from += ahead + (NEAR_SHIFTS[near % NEAR_SHIFTS.length] as number)
        at += ahead
      } else if (after.length - at <= NEAR_BYTES) {
        at = after.length
        continue
      } else {
        if (!isIndexed) indexBytes(before)
        isIndexed = true
        from = findElsewhere(before, after, at)
        if (from < 0) {
          at += 1
          continue
        }
      }
    }
    const length = matchLength(before, from, after, at)
    writeNew(writer, after.subarray(literal, at))
    writer.varint(length)
    writer.varint(zigzag(from - (copied + at - literal)))
    at += length
    literal = at
    copied = from + length
  }
  if (literal < after.length) {
    writeNew(writer, after.subarray(literal))
    writer.varint(0)
  }
  return writer.finish()
}

function writeNew(writer: ByteWriter, bytes: Uint8Array): void {
  writer.varint(bytes.length)
  writer.raw(bytes)
}

/**
 * The next place where both go on nearly in step: how far ahead it is, times the number of shifts, plus which of them;
 * negative without any.
 */
function findNear(before: Uint8Array, inStep: number, after: Uint8Array, at: number): number {
  for (let ahead = 0; ahead < NEAR_BYTES; ahead++) {
    if (at + ahead + MIN_NEAR > after.length) return -1
    for (let i = 0; i < NEAR_SHIFTS.length; i++) {
      const from = inStep + ahead + (NEAR_SHIFTS[i] as number)
      if (from >= 0 && isSame(before, from, after, at + ahead)) return ahead * NEAR_SHIFTS.length + i
    }
  }
  return -1
}

/** Whether `MIN_NEAR` bytes are. */
function isSame(a: Uint8Array, from: number, b: Uint8Array, at: number): boolean {
  for (let i = 0; i < MIN_NEAR; i++) if (a[from + i] !== b[at + i]) return false
  return true
}

function indexBytes(before: Uint8Array): void {
  seen.fill(0)
  // As many samples as the table has places for: where most of a state is the same, one is met soon.
  const step = before.length > LARGE_STATE_BYTES ? before.length >> TABLE_BITS : 1
  for (let i = 0; i + MIN_ELSEWHERE <= before.length; i += step) seen[slot(before, i)] = i + 1
}

/** Where the bytes at `at` stand elsewhere; negative where they do not, or too few of them. */
function findElsewhere(before: Uint8Array, after: Uint8Array, at: number): number {
  if (at + MIN_ELSEWHERE > after.length) return -1
  const from = (seen[slot(after, at)] as number) - 1
  return from < 0 || matchLength(before, from, after, at) < MIN_ELSEWHERE ? -1 : from
}

/**
 * The state that the changes make of `before`.
 * @param stateBytes what it must be long
 * @throws CaissonError `corrupted`
 */
export function applyStateChanges(before: Uint8Array, changes: Uint8Array, stateBytes: number): Uint8Array {
  const reader = new ByteReader(changes)
  const state = new Uint8Array(stateBytes)
  let length = 0
  /** Where the next copy is from, if it goes on in step with the one before. */
  let from = 0
  while (reader.remaining > 0) {
    const news = reader.varint()
    if (length + news > stateBytes) throw reader.corrupted('a state is longer than announced')
    if (news > 0) reader.copyTo(state, length, news)
    length += news
    from += news
    const copied = reader.varint()
    if (copied === 0) continue
    from += unzigzag(reader.varint())
    if (from < 0 || from + copied > before.length) {
      throw reader.corrupted("a copy reaches beyond the parent's state")
    }
    if (length + copied > stateBytes) throw reader.corrupted('a state is longer than announced')
    copyBytes(before, from, state, length, copied)
    length += copied
    from += copied
  }
  if (length !== stateBytes) throw reader.corrupted('a state is shorter than announced')
  return state
}

function copyBytes(source: Uint8Array, from: number, target: Uint8Array, at: number, length: number): void {
  // Most copies are of a name or two: a view for each takes longer than the bytes.
  if (length > LONG_COPY) target.set(source.subarray(from, from + length), at)
  else for (let i = 0; i < length; i++) target[at + i] = source[from + i] as number
}

function matchLength(a: Uint8Array, from: number, b: Uint8Array, at: number): number {
  let length = 0
  while (from + length < a.length && at + length < b.length && a[from + length] === b[at + length])
    length += 1
  return length
}

/** Of the `MIN_ELSEWHERE` bytes at `at`. */
function slot(bytes: Uint8Array, at: number): number {
  const low =
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)
  const high = (bytes[at + 4] as number) | ((bytes[at + 5] as number) << 8)
  return Math.imul(low ^ Math.imul(high, 0x85ebca6b), 0x9e3779b1) >>> (32 - TABLE_BITS)
}
