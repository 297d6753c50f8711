/**
 * The state of a machine as copies out of that of its parent, with what is new between them.
 *
 * It is mostly names, limits and pending calls, which stay as they are from checkpoint to checkpoint.
 *
 * Invariants
 * 1. `applyStateChanges` of what `encodeStateChanges` wrote gives the same state.
 * 2. Hostile bytes read inside of the parent's state only, and give exactly as many bytes as announced.
 */
import { ByteReader } from '../../base/byte-reader.ts'
import { ByteWriter } from '../../base/byte-writer.ts'
import { unzigzag, zigzag } from './zigzag.ts'

/** Above, a state is written whole: finding copies would block the host. */
const MAX_STATE_BYTES = 65_536

/** What a copy must give to be worth its two or three bytes: where it goes on in step with the one before, and elsewhere. */
const MIN_IN_STEP = 4
const MIN_ELSEWHERE = 6

/** Bytes from which on the platform copies faster than a loop. */
const LONG_COPY = 128

const TABLE_BITS = 12
/** Where in the parent's state a sequence was seen last, plus one. */
const seen = new Uint32Array(1 << TABLE_BITS)

/** Undefined when the states are too large for it. */
export function encodeStateChanges(before: Uint8Array, after: Uint8Array): Uint8Array | undefined {
  if (before.length > MAX_STATE_BYTES || after.length > MAX_STATE_BYTES) return undefined
  seen.fill(0)
  for (let i = 0; i + MIN_ELSEWHERE <= before.length; i++) seen[slot(before, i)] = i + 1
  const writer = new ByteWriter()
  /** Where new bytes began, and where the copy before them ended. */
  let literal = 0
  let copied = 0
  let at = 0
  while (at < after.length) {
    const copy = findCopy(before, copied + at - literal, after, at)
    if (copy === undefined) {
      at += 1
      continue
    }
    writeNew(writer, after.subarray(literal, at))
    writer.varint(copy.length)
    writer.varint(zigzag(copy.from - (copied + at - literal)))
    at += copy.length
    literal = at
    copied = copy.from + copy.length
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

/** A copy that gives the bytes at `at`, best from `inStep`: numbers change, and what follows them stays where it was. */
function findCopy(
  before: Uint8Array,
  inStep: number,
  after: Uint8Array,
  at: number,
): { readonly from: number; readonly length: number } | undefined {
  const length = matchLength(before, inStep, after, at)
  if (length >= MIN_IN_STEP) return { from: inStep, length }
  if (at + MIN_ELSEWHERE > after.length) return undefined
  const from = (seen[slot(after, at)] as number) - 1
  if (from < 0) return undefined
  const found = matchLength(before, from, after, at)
  return found < MIN_ELSEWHERE ? undefined : { from, length: found }
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
    if (news > 0) state.set(reader.raw(news), length)
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
