/**
 * Everything about a run but its log entries and checkpoints, as the bytes of one small file.
 *
 * The file never changes once it has its name: the next state is the next file (see `run-register.node.ts`).
 *
 *     "CSNRUN", version 1, flags (1 removed, 2 lease, 4 head, 8 first)
 *     varint token
 *     lease: 16 bytes id, text machine, text process, varint ttl in ms, varint uptime in ms
 *     head:  varint version, varint position, varint number of digests, 32 bytes each, varint length, summary
 *     log:   varint number of segments; each 16 bytes id, varint first entry, varint entries, varint bytes, byte open
 *     SHA-256 of all bytes before
 *
 * A text is a varint length and that many bytes. Whatever contradicts this is refused as `corrupted`.
 */
import { createHash } from 'node:crypto'
import { ByteReader } from '../../../src/base/byte-reader.ts'
import { ByteWriter } from '../../../src/base/byte-writer.ts'
import { fromHex, toHex } from '../../../src/base/bytes.ts'
import type { Digest } from '../../../src/base/digest.ts'
import { CaissonError } from '../../../src/base/errors.ts'
import type { RunHead } from '../../../src/ports/run-store.ts'
import { MAX_CHAIN, MAX_SUMMARY_BYTES } from '../check-arguments.ts'
import { damaged } from './store-error.ts'

/** Who holds a run, as others need to know it. */
export interface LeaseRecord {
  /** 32 hexadecimal digits, drawn anew for every lease. */
  readonly id: string
  /** Names one boot of one machine; empty where that cannot be known. */
  readonly machine: string
  /** Names one process of that boot. */
  readonly process: string
  readonly ttlMs: number
  /** When it was taken, in milliseconds since that boot. */
  readonly uptimeMs: number
}

/** A file with entries of the log. */
export interface SegmentRecord {
  /** 32 hexadecimal digits. */
  readonly id: string
  /** Number of its first entry. */
  readonly first: number
  /** Entries and bytes that are acknowledged. While `open` and held there may be more in the file. */
  readonly entries: number
  readonly bytes: number
  /** Whether the holder appends to it. */
  readonly open: boolean
}

export interface RunState {
  /** No state of this run was before this one. */
  readonly first: boolean
  /** The run is gone; only the count of states goes on. */
  readonly removed: boolean
  /** Of the newest lease. */
  readonly token: number
  /** Undefined while nobody holds the run. */
  readonly lease: LeaseRecord | undefined
  readonly head: RunHead | undefined
  readonly log: readonly SegmentRecord[]
}

/** How a run begins. */
export const NEW_RUN: RunState = {
  first: true,
  removed: false,
  token: 0,
  lease: undefined,
  head: undefined,
  log: [],
}

/** Largest file of a state: the longest chain, the largest summary, and thousands of segments. */
export const MAX_STATE_BYTES: number = 1024 * 1024

const MAGIC = 'CSNRUN\x01'
const ID_BYTES = 16
const DIGEST_BYTES = 32
const CHECKSUM_BYTES = 32
const PREFIX = 'sha256:'

export function encodeRunState(state: RunState): Uint8Array {
  const { lease, head, log } = state
  const writer = new ByteWriter(512)
  writer.latin1(MAGIC)
  writer.byte((state.removed ? 1 : 0) | (lease ? 2 : 0) | (head ? 4 : 0) | (state.first ? 8 : 0))
  writer.varint(state.token)
  if (lease !== undefined) {
    writer.raw(fromHex(lease.id))
    writeText(writer, lease.machine)
    writeText(writer, lease.process)
    writer.varint(Math.ceil(lease.ttlMs))
    writer.varint(Math.ceil(lease.uptimeMs))
  }
  if (head !== undefined) {
    writer.varint(head.version)
    writer.varint(head.position)
    writer.varint(head.chain.length)
    for (const id of head.chain) writer.raw(fromHex(id.slice(PREFIX.length)))
    writer.varint(head.summary.byteLength)
    writer.raw(head.summary)
  }
  writer.varint(log.length)
  for (const segment of log) {
    writer.raw(fromHex(segment.id))
    writer.varint(segment.first)
    writer.varint(segment.entries)
    writer.varint(segment.bytes)
    writer.byte(segment.open ? 1 : 0)
  }
  writer.raw(checksum(writer.finish()))
  return writer.finish()
}

/** @throws CaissonError `corrupted` for anything but what `encodeRunState` gives */
export function decodeRunState(bytes: Uint8Array): RunState {
  const end = bytes.byteLength - CHECKSUM_BYTES
  const body = bytes.subarray(0, Math.max(0, end))
  if (end < MAGIC.length || toHex(checksum(body)) !== toHex(bytes.subarray(end))) {
    throw damaged('the state of a run is not what was written')
  }
  try {
    return readState(new ByteReader(body))
  } catch (error) {
    if (CaissonError.is(error))
      throw damaged(`the state of a run says something impossible (${error.message})`)
    throw error
  }
}

function readState(reader: ByteReader): RunState {
  if (reader.latin1(MAGIC.length) !== MAGIC) throw reader.corrupted('this is no state of a known version')
  const flags = reader.byte()
  const token = reader.varint()
  const lease = flags & 2 ? readLease(reader) : undefined
  const head = flags & 4 ? readHead(reader) : undefined
  const log: SegmentRecord[] = []
  for (let left = readCount(reader, ID_BYTES); left > 0; left--) log.push(readSegment(reader, log))
  if (reader.remaining > 0) throw reader.corrupted('something follows')
  return { first: (flags & 8) !== 0, removed: (flags & 1) !== 0, token, lease, head, log }
}

function readLease(reader: ByteReader): LeaseRecord {
  const id = toHex(reader.raw(ID_BYTES))
  const machine = readText(reader)
  return { id, machine, process: readText(reader), ttlMs: reader.varint(), uptimeMs: reader.varint() }
}

function readHead(reader: ByteReader): RunHead {
  const version = reader.varint()
  const position = reader.varint()
  const chain: Digest[] = []
  const length = readCount(reader, DIGEST_BYTES)
  if (length > MAX_CHAIN) throw reader.corrupted('the chain is too long')
  for (let i = 0; i < length; i++) chain.push(`${PREFIX}${toHex(reader.raw(DIGEST_BYTES))}` as Digest)
  const summaryBytes = reader.varint()
  if (summaryBytes > MAX_SUMMARY_BYTES) throw reader.corrupted('the summary is too long')
  return { version, chain, position, summary: reader.raw(summaryBytes).slice() }
}

function readSegment(reader: ByteReader, before: readonly SegmentRecord[]): SegmentRecord {
  const id = toHex(reader.raw(ID_BYTES))
  const segment = { id, first: reader.varint(), entries: reader.varint(), bytes: reader.varint() }
  const last = before.at(-1)
  if (segment.first !== (last ? last.first + last.entries : 0) || last?.open === true) {
    throw reader.corrupted('the log has a gap')
  }
  return { ...segment, open: reader.byte() === 1 }
}

/** A number of things of at least `size` bytes each, which must fit. */
function readCount(reader: ByteReader, size: number): number {
  const count = reader.varint()
  if (count * size > reader.remaining) throw reader.corrupted('more is announced than there is')
  return count
}

function writeText(writer: ByteWriter, text: string): void {
  const bytes = new TextEncoder().encode(text)
  writer.varint(bytes.byteLength)
  writer.raw(bytes)
}

function readText(reader: ByteReader): string {
  return new TextDecoder().decode(reader.raw(reader.varint()))
}

function checksum(bytes: Uint8Array): Uint8Array {
  return createHash('sha256').update(bytes).digest()
}
