/**
 * A run of a plan as one file, to be looked at or gone on with where its store is not.
 *
 *   8   "caisrun" and a line feed
 *   1   version 1
 *   1   flags: 1 authenticated
 *   1 + n   id of the MAC key, when authenticated
 *   1 + n, 2 + n   name of the run, and its trust domain in UTF-8
 *   ..  number of logs; of each its name, its head (1, position, chain, summary; or 0), its entries
 *   ..  number of blobs; of each its digest and its bytes
 *   32  SHA-256 of everything before
 *   32  HMAC-SHA-256 of everything before, when authenticated
 *
 * Numbers are varints, and stand before what they count.
 *
 * Invariants
 * 1. Nothing of a file is taken before all of it was compared with its digest, and with a key configured with its MAC.
 * 2. What a number announces is compared with the bytes that are left before anything is made of it, and with what a run
 *    has at most: a small file never makes a large host.
 * 3. What no store takes (a head that is too long, an entry that is none) is refused here, and no file is made of it.
 */

import { ByteReader } from '../../../base/byte-reader.ts'
import { ByteWriter } from '../../../base/byte-writer.ts'
import { concatBytes } from '../../../base/bytes.ts'
import { type Digest, digestBytes, digestOf } from '../../../base/digest.ts'
import { CaissonError } from '../../../base/errors.ts'
import type { RunHead } from '../../../ports/run-store.ts'
import { findKey } from '../../../snapshot/container/checkpoint-keys.ts'
import { BARE_HEAD_BYTES, type EntrySealOptions } from '../../../snapshot/run-log/entry-seal.ts'
import { sameBytes } from '../../../snapshot/same-bytes.ts'

const MAGIC: Uint8Array = new TextEncoder().encode('caisrun\n')
const VERSION = 1
const AUTHENTICATED = 1
const DIGEST_BYTES = 32
const MOST_BYTES = 1024 * 1024 * 1024
const LONGEST_DOMAIN = 10_000
/** Logs, entries, digests and blobs of one file. */
const MOST_PIECES = 2_000_000
/** What stores take. */
const LONGEST_CHAIN = 1_024
const LONGEST_SUMMARY = 16 * 1024
const LARGEST_ENTRY = 64 * 1024 * 1024
/** The least that each takes of a file. */
const LOG_BYTES = 4
const ENTRY_BYTES = 1 + BARE_HEAD_BYTES
const BLOB_BYTES = DIGEST_BYTES + 1

export interface ExportedLog {
  readonly name: string
  readonly head: Omit<RunHead, 'version'> | undefined
  readonly entries: readonly Uint8Array[]
}

export interface ExportedRun {
  readonly run: string
  readonly tenant: string
  /** Of the run, and of what belongs to it. */
  readonly logs: readonly ExportedLog[]
  readonly blobs: ReadonlyMap<Digest, Uint8Array>
}

type Sealing = Pick<EntrySealOptions, 'ports' | 'keys'>

/** @throws CaissonError `checkpoint_too_large` for a run of more than 1 GiB, or of more pieces than are taken back */
export function encodeExport(
  { run, tenant, logs, blobs }: ExportedRun,
  { ports, keys = {} }: Sealing,
): Uint8Array {
  if (piecesOf(logs) + blobs.size > MOST_PIECES) throw tooMany()
  const writer = new ByteWriter()
  const take = (bytes: Uint8Array): void => {
    writer.varint(bytes.length)
    writer.raw(bytes)
    if (writer.length > MOST_BYTES) throw tooLarge()
  }
  writer.raw(MAGIC)
  writer.byte(VERSION)
  writer.byte(keys.mac ? AUTHENTICATED : 0)
  if (keys.mac !== undefined) writeName(writer, keys.mac.current.id)
  writeName(writer, run)
  take(new TextEncoder().encode(tenant))
  writer.varint(logs.length)
  for (const { name, head, entries } of logs) {
    writeName(writer, name)
    writer.byte(head === undefined ? 0 : 1)
    if (head !== undefined) {
      writer.varint(head.position)
      writer.varint(head.chain.length)
      for (const digest of head.chain) writer.raw(digestBytes(digest))
      take(head.summary)
    }
    writer.varint(entries.length)
    for (const entry of entries) take(entry)
  }
  writer.varint(blobs.size)
  for (const [digest, bytes] of blobs) {
    writer.raw(digestBytes(digest))
    take(bytes)
  }
  const body = writer.finish()
  const sum = ports.hash.sha256(body)
  const mac = keys.mac && ports.hash.hmacSha256(keys.mac.current.bytes, macInput(body))
  return concatBytes([body, sum, ...(mac ? [mac] : [])])
}

/**
 * Parts of it are views of the bytes.
 * @throws CaissonError `corrupted` with `details: { offset }`, `checkpoint_refused` without the key, `unsupported` for a newer version
 */
export function decodeExport(bytes: Uint8Array, sealing: Sealing): ExportedRun {
  if (bytes.length > MOST_BYTES) throw tooLarge()
  const { reader, end } = openExport(bytes, sealing)
  const body = new Body(reader, end)
  const run = readName(reader)
  const tenant = decodeText(body.take(LONGEST_DOMAIN), reader)
  const logs: ExportedLog[] = []
  for (let left = body.count(LOG_BYTES); left > 0; left -= 1) logs.push(readLog(body))
  const blobs = new Map<Digest, Uint8Array>()
  for (let left = body.count(BLOB_BYTES); left > 0; left -= 1) {
    const digest = digestOf(reader.raw(DIGEST_BYTES))
    if (blobs.has(digest)) throw reader.corrupted('a blob is there twice')
    blobs.set(digest, body.take())
  }
  if (reader.offset !== end) throw reader.corrupted('something follows its end')
  return { run, tenant, logs, blobs }
}

/** The body of a file, between what says what it is and its digest. */
class Body {
  readonly reader: ByteReader
  readonly #end: number
  /** How many more pieces there may be. */
  #left: number = MOST_PIECES

  constructor(reader: ByteReader, end: number) {
    this.reader = reader
    this.#end = end
  }

  /** How many there are of something that takes so many bytes at least. */
  count(bytes: number): number {
    const count = this.#within(bytes)
    this.#left -= count
    if (this.#left < 0) throw this.reader.corrupted('it has more pieces than a run has')
    return count
  }

  #within(bytes: number): number {
    const count = this.reader.varint()
    if (count > (this.#end - this.reader.offset) / bytes)
      throw this.reader.corrupted('it announces more than there is')
    return count
  }

  take(most: number = Number.POSITIVE_INFINITY): Uint8Array {
    const length = this.#within(1)
    if (length > most) throw this.reader.corrupted('a part of it is too long')
    return this.reader.raw(length)
  }
}

function readLog(body: Body): ExportedLog {
  const { reader } = body
  const name = readName(reader)
  const hasHead = reader.byte()
  if (hasHead > 1) throw reader.corrupted('a head is neither there nor not')
  const head = hasHead === 1 ? readHead(body) : undefined
  const entries: Uint8Array[] = []
  for (let left = body.count(ENTRY_BYTES); left > 0; left -= 1) entries.push(readEntry(body))
  if (head === undefined && entries.length === 0) throw reader.corrupted('a log of it has nothing')
  if ((head?.position ?? 0) > entries.length) throw reader.corrupted('a head is beyond the end of its log')
  return { name, head, entries }
}

function readEntry(body: Body): Uint8Array {
  const entry = body.take(LARGEST_ENTRY)
  if (entry.length < BARE_HEAD_BYTES) throw body.reader.corrupted('an entry is none')
  return entry
}

function readHead(body: Body): ExportedLog['head'] {
  const { reader } = body
  const position = reader.varint()
  const chain: Digest[] = []
  const length = body.count(DIGEST_BYTES)
  if (length > LONGEST_CHAIN) throw reader.corrupted('a head names too much')
  for (let left = length; left > 0; left -= 1) chain.push(digestOf(reader.raw(DIGEST_BYTES)))
  return { position, chain, summary: body.take(LONGEST_SUMMARY) }
}

/** Reads what it is, and compares it with its digest and its MAC. */
function openExport(
  bytes: Uint8Array,
  { ports, keys = {} }: Sealing,
): { readonly reader: ByteReader; readonly end: number } {
  const reader = new ByteReader(bytes)
  if (!sameBytes(reader.raw(MAGIC.length), MAGIC)) throw reader.corrupted('it is no run that was exported')
  const version = reader.byte()
  if (version !== VERSION) {
    throw new CaissonError(
      'unsupported',
      `The run was exported as version ${version}, and ${VERSION} is known here.`,
      {
        details: { version, known: VERSION },
      },
    )
  }
  const flags = reader.byte()
  if ((flags & ~AUTHENTICATED) !== 0) throw reader.corrupted('it has flags that this version does not know')
  const isAuthenticated = (flags & AUTHENTICATED) !== 0
  const keyId = isAuthenticated ? readName(reader) : undefined
  const end = bytes.length - (isAuthenticated ? 2 : 1) * DIGEST_BYTES
  if (end < reader.offset) throw reader.corrupted('it ends too early')
  const body = bytes.subarray(0, end)
  if (!sameBytes(ports.hash.sha256(body), bytes.subarray(end, end + DIGEST_BYTES)))
    throw reader.corrupted('it has another digest than it says')
  if (keys.mac === undefined) return { reader, end }
  if (keyId === undefined) throw refused('it is not authenticated')
  const key = findKey(keys.mac, keyId)
  if (key === undefined) throw refused(`it is authenticated with the key "${keyId.slice(0, 64)}"`)
  const expected = ports.hash.hmacSha256(key.bytes, macInput(body))
  if (!sameBytes(expected, bytes.subarray(end + DIGEST_BYTES))) throw refused('its MAC is wrong')
  return { reader, end }
}

/** Under words of its own: a MAC of a file is none of anything else. */
function macInput(body: Uint8Array): Uint8Array {
  return concatBytes([new TextEncoder().encode('caisson export 1\n'), body])
}

function writeName(writer: ByteWriter, name: string): void {
  writer.byte(name.length)
  writer.latin1(name)
}

function readName(reader: ByteReader): string {
  return reader.latin1(reader.byte())
}

function decodeText(bytes: Uint8Array, reader: ByteReader): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw reader.corrupted('a text is no UTF-8')
  }
}

function refused(what: string): CaissonError {
  return new CaissonError('checkpoint_refused', `The exported run is not taken: ${what}.`, {
    details: { differs: 'export' },
  })
}

function piecesOf(logs: readonly ExportedLog[]): number {
  return logs.reduce((sum, { head, entries }) => sum + 1 + entries.length + (head?.chain.length ?? 0), 0)
}

function tooMany(): CaissonError {
  return new CaissonError(
    'checkpoint_too_large',
    `An exported run has at most ${MOST_PIECES} entries and values.`,
    {
      details: { limit: MOST_PIECES },
    },
  )
}

function tooLarge(): CaissonError {
  return new CaissonError('checkpoint_too_large', `An exported run has at most ${MOST_BYTES} bytes.`, {
    details: { limit: MOST_BYTES },
  })
}
