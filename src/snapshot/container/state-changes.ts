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

/** Above, a state is written whole: finding copies would block the host. */
const MAX_STATE_BYTES = 65_536

/** A copy takes up to 5 bytes: shorter matches are not worth it. */
const MIN_COPY = 8

const TABLE_BITS = 12
/** Where in the parent's state a sequence was seen last, plus one. */
const seen = new Uint32Array(1 << TABLE_BITS)

/** Undefined when the states are too large for it. */
export function encodeStateChanges(before: Uint8Array, after: Uint8Array): Uint8Array | undefined {
  if (before.length > MAX_STATE_BYTES || after.length > MAX_STATE_BYTES) return undefined
  seen.fill(0)
  for (let i = 0; i + MIN_COPY <= before.length; i++) seen[slot(before, i)] = i + 1
  const writer = new ByteWriter()
  let literal = 0
  let at = 0
  while (at < after.length) {
    const from = at + MIN_COPY <= after.length ? (seen[slot(after, at)] as number) - 1 : -1
    let length = from < 0 ? 0 : matchLength(before, from, after, at)
    if (length < MIN_COPY) {
      at += 1
      continue
    }
    // The table knows the last place of a sequence only: a match may begin earlier than where it was found.
    let back = 0
    while (at - back > literal && from > back && before[from - back - 1] === after[at - back - 1]) back += 1
    length += back
    writeStep(writer, after.subarray(literal, at - back), from - back, length)
    at += length - back
    literal = at
  }
  if (literal < after.length || after.length === 0) writeStep(writer, after.subarray(literal), 0, 0)
  return writer.finish()
}

function writeStep(writer: ByteWriter, literal: Uint8Array, from: number, length: number): void {
  writer.varint(literal.length)
  writer.raw(literal)
  writer.varint(length)
  if (length > 0) writer.varint(from)
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
  const add = (bytes: Uint8Array): void => {
    if (length + bytes.length > stateBytes) throw reader.corrupted('a state is longer than announced')
    state.set(bytes, length)
    length += bytes.length
  }
  while (reader.remaining > 0) {
    add(reader.raw(reader.varint()))
    const copied = reader.varint()
    if (copied === 0) continue
    const from = reader.varint()
    if (from + copied > before.length) throw reader.corrupted("a copy reaches beyond the parent's state")
    add(before.subarray(from, from + copied))
  }
  if (length !== stateBytes) throw reader.corrupted('a state is shorter than announced')
  return state
}

function matchLength(a: Uint8Array, from: number, b: Uint8Array, at: number): number {
  let length = 0
  while (from + length < a.length && at + length < b.length && a[from + length] === b[at + length])
    length += 1
  return length
}

/** Of the `MIN_COPY` bytes at `at`. */
function slot(bytes: Uint8Array, at: number): number {
  const low =
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)
  const high =
    (bytes[at + 4] as number) | ((bytes[at + 5] as number) << 8) | ((bytes[at + 6] as number) << 16)
  return Math.imul(low ^ Math.imul(high, 0x85ebca6b), 0x9e3779b1) >>> (32 - TABLE_BITS)
}
