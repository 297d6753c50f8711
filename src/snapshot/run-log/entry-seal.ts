/**
 * Entries of append-only logs, sealed with the keys of checkpoints, and chained, so that an entry stands for the one
 * place in the one log where it was written.
 *
 *   1   version 1
 *   1   flags: 1 encrypted, 2 authenticated
 *   32  SHA-256 of the sealed entry before, zeros for the first one that is read with no other before it
 *   1 + n  id of the encryption key, when encrypted; then 12 bytes of nonce
 *   1 + n  id of the MAC key, when authenticated
 *   ..  the entry, encrypted with all before it as additional data when flagged
 *   32  HMAC-SHA-256 over what log it is, tenant, run, number and everything before, when authenticated
 *
 * Invariants
 * 1. With a key configured, an entry that does not carry it is refused; so is one from another place or run.
 * 2. An entry that follows another one names it by its digest.
 */
import { ByteReader } from '../../base/byte-reader.ts'
import { ByteWriter } from '../../base/byte-writer.ts'
import { CaissonError } from '../../base/errors.ts'
import type { CheckpointPorts } from '../../ports/checkpoint-ports.ts'
import { type CheckpointKeys, findKey } from '../container/checkpoint-keys.ts'

const VERSION = 1
const ENCRYPTED = 1
const AUTHENTICATED = 2
const DIGEST_BYTES = 32
const NONCE_BYTES = 12

export interface EntryPlace {
  readonly tenant: string
  readonly run: string
  /** Number in the log, from 0. */
  readonly at: number
}

export interface EntrySealOptions {
  readonly ports: CheckpointPorts
  readonly keys?: CheckpointKeys
}

/** Which log of a run: an entry of one is none of another. */
export type LogKind = 'log' | 'journal'

/** Seals the entries of one log one after the other, or opens them so. */
export class EntrySeal {
  readonly #options: EntrySealOptions
  readonly #kind: LogKind
  #before: Uint8Array | undefined

  constructor(options: EntrySealOptions, kind: LogKind) {
    this.#options = options
    this.#kind = kind
  }

  async seal(plain: Uint8Array, place: EntryPlace): Promise<Uint8Array> {
    const { ports, keys = {} } = this.#options
    const { encryption, mac } = keys
    const head = new ByteWriter()
    head.byte(VERSION)
    head.byte((encryption ? ENCRYPTED : 0) | (mac ? AUTHENTICATED : 0))
    head.raw(this.#before ?? new Uint8Array(DIGEST_BYTES))
    const nonce = encryption && ports.entropy.bytes(NONCE_BYTES)
    if (encryption !== undefined && nonce !== undefined) {
      writeId(head, encryption.current.id)
      head.raw(nonce)
    }
    if (mac !== undefined) writeId(head, mac.current.id)
    const start = head.finish()
    const body =
      encryption === undefined || nonce === undefined
        ? plain
        : await ports.cipher.encrypt(encryption.current.bytes, nonce, start, plain)
    const unsealed = joined(start, body)
    const sealed =
      mac === undefined
        ? unsealed
        : joined(unsealed, ports.hash.hmacSha256(mac.current.bytes, macInput(this.#kind, place, unsealed)))
    this.#before = ports.hash.sha256(sealed)
    return sealed
  }

  /** @throws CaissonError `corrupted`, `checkpoint_refused` for another key, `encryption_required` */
  async open(sealed: Uint8Array, place: EntryPlace): Promise<Uint8Array> {
    const { ports, keys = {} } = this.#options
    const reader = new ByteReader(sealed)
    if (reader.byte() !== VERSION) throw damaged(place, 'it is not of version 1')
    const flags = reader.byte()
    const before = reader.raw(DIGEST_BYTES)
    if (this.#before !== undefined && !same(before, this.#before)) {
      throw damaged(place, 'it does not follow the entry before it')
    }
    const encryptionId = flags & ENCRYPTED ? readId(reader) : undefined
    const nonce = flags & ENCRYPTED ? reader.raw(NONCE_BYTES) : undefined
    const macId = flags & AUTHENTICATED ? readId(reader) : undefined
    const bodyStart = reader.offset
    const bodyEnd = sealed.length - (macId === undefined ? 0 : DIGEST_BYTES)
    if (bodyEnd < bodyStart) throw damaged(place, 'it ends too early')
    this.#checkMac(sealed, bodyEnd, macId, place)
    let body: Uint8Array | undefined = sealed.subarray(bodyStart, bodyEnd)
    if (encryptionId !== undefined && nonce !== undefined) {
      const key = findKey(keys.encryption, encryptionId)
      if (key === undefined) throw refused(place, `it is encrypted with the key "${encryptionId}"`)
      body = await ports.cipher.decrypt(key.bytes, nonce, sealed.subarray(0, bodyStart), body)
      if (body === undefined) throw damaged(place, 'it cannot be decrypted')
    }
    this.#before = ports.hash.sha256(sealed)
    return body
  }

  #checkMac(sealed: Uint8Array, bodyEnd: number, id: string | undefined, place: EntryPlace): void {
    const { ports, keys = {} } = this.#options
    if (keys.mac === undefined) return
    if (id === undefined) throw refused(place, 'it is not authenticated')
    const key = findKey(keys.mac, id)
    if (key === undefined) throw refused(place, `it is authenticated with the key "${id}"`)
    const expected = ports.hash.hmacSha256(
      key.bytes,
      macInput(this.#kind, place, sealed.subarray(0, bodyEnd)),
    )
    if (!same(expected, sealed.subarray(bodyEnd))) throw refused(place, 'its MAC is wrong')
  }
}

function macInput(kind: LogKind, { tenant, run, at }: EntryPlace, bytes: Uint8Array): Uint8Array {
  const place = new TextEncoder().encode(`caisson ${kind} 1\n${JSON.stringify([tenant, run, at])}\n`)
  return joined(place, bytes)
}

function writeId(writer: ByteWriter, id: string): void {
  writer.byte(id.length)
  writer.latin1(id)
}

function readId(reader: ByteReader): string {
  return reader.latin1(reader.byte())
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(a.length + b.length)
  bytes.set(a)
  bytes.set(b, a.length)
  return bytes
}

/** In constant time for equal lengths. */
function same(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  let difference = 0
  for (let i = 0; i < a.length; i += 1) difference |= (a[i] ?? 0) ^ (b[i] ?? 0)
  return difference === 0
}

function damaged({ run, at }: EntryPlace, what: string): CaissonError {
  return new CaissonError('corrupted', `Entry ${at} of the log of run "${run}" is damaged: ${what}.`, {
    details: { run, at },
  })
}

function refused({ run, at }: EntryPlace, what: string): CaissonError {
  return new CaissonError(
    'checkpoint_refused',
    `Entry ${at} of the log of run "${run}" is not taken: ${what}.`,
    {
      details: { differs: 'log', run, at },
    },
  )
}
