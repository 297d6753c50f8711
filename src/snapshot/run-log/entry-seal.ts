/**
 * Entries of append-only logs, sealed with the keys of checkpoints, and chained, so that an entry stands for the one
 * place in the one log where it was written.
 *
 *   1   version 1
 *   1   flags: 1 encrypted, 2 authenticated, 4 signed
 *   32  SHA-256 of the sealed entry before, zeros for the first one that is read with no other before it
 *   1 + n  id of the encryption key, when encrypted; then 12 bytes of nonce
 *   1 + n  id of the MAC key, when authenticated
 *   32  Ed25519 public key, when signed
 *   ..  the entry, encrypted with all before it as additional data when flagged
 *   64  Ed25519 signature over what log it is, tenant, run, number and everything before, when signed
 *   32  HMAC-SHA-256 over the same and everything before, when authenticated
 *
 * Invariants
 * 1. With a key configured, an entry that does not carry it is refused; so is one from another place or run.
 * 2. An entry that follows another one names it by its digest: a signature is one of everything up to it.
 * 3. With signers that are trusted, a signature is by one of them, or refused. Who only reads to go on asks for none:
 *    that is what keys are for.
 */
import { ByteReader } from '../../base/byte-reader.ts'
import { ByteWriter } from '../../base/byte-writer.ts'
import { toHex } from '../../base/bytes.ts'
import { CaissonError } from '../../base/errors.ts'
import type { CheckpointPorts } from '../../ports/checkpoint-ports.ts'
import type { SignatureCheck, Signer } from '../../ports/signer.ts'
import { type CheckpointKeys, findKey } from '../container/checkpoint-keys.ts'
import { sameBytes } from '../same-bytes.ts'

const VERSION = 1
const ENCRYPTED = 1
const AUTHENTICATED = 2
const SIGNED = 4
const DIGEST_BYTES = 32
const PUBLIC_KEY_BYTES = 32
const SIGNATURE_BYTES = 64
const NONCE_BYTES = 12
/** Before what is sealed, where there is no key and no signature. */
export const BARE_HEAD_BYTES: number = 2 + DIGEST_BYTES

export interface EntryPlace {
  readonly tenant: string
  readonly run: string
  /** Number in the log, from 0. */
  readonly at: number
}

export interface EntrySealOptions {
  readonly ports: CheckpointPorts
  readonly keys?: CheckpointKeys
  /** Signs entries for which that is asked. */
  readonly signer?: Signer
  /** Whose signatures are taken: every one that is met is checked. Left out, none is. */
  readonly trusted?: TrustedSigners
}

export interface TrustedSigners {
  readonly check: SignatureCheck
  /** Public keys. */
  readonly keys: readonly Uint8Array[]
}

/** Which log of a run, or what beside it: an entry of one is none of another. */
export type LogKind = 'log' | 'journal' | 'image' | 'import' | 'key' | 'cut'

/** What a log is called where an entry of it is refused. */
const CALLED: Readonly<Record<LogKind, string>> = {
  log: 'log',
  journal: 'journal',
  image: 'image',
  import: 'import mark',
  key: 'key of the values',
  cut: 'cut',
}

/** Where an entry stands, and of which log. */
interface EntryOf extends EntryPlace {
  readonly kind: LogKind
}

/** Seals the entries of one log one after the other, or opens them so. */
export class EntrySeal {
  readonly #options: EntrySealOptions
  readonly #kind: LogKind
  #before: Uint8Array | undefined
  #signedBy: Uint8Array | undefined

  /** @param before SHA-256 of the entry before the first one, where it is known */
  constructor(options: EntrySealOptions, kind: LogKind, before?: Uint8Array) {
    this.#options = options
    this.#kind = kind
    this.#before = before
  }

  /** SHA-256 of the last entry that was sealed or opened, which stands for all before it. */
  get last(): Uint8Array | undefined {
    return this.#before
  }

  /** Public key of whose signature the last entry carries. Checked only where signers are trusted. */
  get signedBy(): Uint8Array | undefined {
    return this.#signedBy
  }

  /**
   * As `seal`, at once and in its place, where no key is given and nothing is signed; false elsewhere.
   * @param entry `BARE_HEAD_BYTES` that are written over, and what is sealed
   */
  sealInPlace(entry: Uint8Array, isSigned: boolean = false): boolean {
    const { ports, keys, signer } = this.#options
    if (keys?.encryption !== undefined || keys?.mac !== undefined || (isSigned && signer !== undefined))
      return false
    entry[0] = VERSION
    entry[1] = 0
    if (this.#before === undefined) entry.fill(0, 2, BARE_HEAD_BYTES)
    else entry.set(this.#before, 2)
    this.#before = ports.hash.sha256(entry)
    this.#signedBy = undefined
    return true
  }

  /** @param isSigned whether it is signed, where there is a signer */
  async seal(plain: Uint8Array, place: EntryPlace, isSigned: boolean = false): Promise<Uint8Array> {
    const { ports, keys = {} } = this.#options
    const signer = isSigned ? this.#options.signer : undefined
    const { encryption, mac } = keys
    const head = new ByteWriter()
    head.byte(VERSION)
    head.byte((encryption ? ENCRYPTED : 0) | (mac ? AUTHENTICATED : 0) | (signer ? SIGNED : 0))
    head.raw(this.#before ?? new Uint8Array(DIGEST_BYTES))
    const nonce = encryption && ports.entropy.bytes(NONCE_BYTES)
    if (encryption !== undefined && nonce !== undefined) {
      writeId(head, encryption.current.id)
      head.raw(nonce)
    }
    if (mac !== undefined) writeId(head, mac.current.id)
    if (signer !== undefined) head.raw(signer.publicKey)
    const start = head.finish()
    const body =
      encryption === undefined || nonce === undefined
        ? plain
        : await ports.cipher.encrypt(encryption.current.bytes, nonce, start, plain)
    const unsigned = joined(start, body)
    const unsealed =
      signer === undefined
        ? unsigned
        : joined(unsigned, await signer.sign(placed('signed', this.#kind, place, unsigned)))
    const sealed =
      mac === undefined
        ? unsealed
        : joined(
            unsealed,
            ports.hash.hmacSha256(mac.current.bytes, placed('caisson', this.#kind, place, unsealed)),
          )
    this.#before = ports.hash.sha256(sealed)
    this.#signedBy = signer?.publicKey
    return sealed
  }

  /** @throws CaissonError `corrupted`, `checkpoint_refused` for another key, `encryption_required` */
  async open(sealed: Uint8Array, { tenant, run, at }: EntryPlace): Promise<Uint8Array> {
    const { ports, keys = {} } = this.#options
    const place: EntryOf = { tenant, run, at, kind: this.#kind }
    const { encryptionId, nonce, macId, publicKey, before, bodyStart } = readStart(sealed, place)
    if (this.#before !== undefined && !sameBytes(before, this.#before)) {
      throw damaged(place, 'it does not follow the entry before it, or one of the two was changed')
    }
    const macAt = sealed.length - (macId === undefined ? 0 : DIGEST_BYTES)
    const bodyEnd = macAt - (publicKey === undefined ? 0 : SIGNATURE_BYTES)
    if (bodyEnd < bodyStart) throw damaged(place, 'it ends too early')
    this.#checkMac(sealed, macAt, macId, place)
    if (publicKey !== undefined)
      await this.#checkSignature(
        sealed.subarray(0, bodyEnd),
        sealed.subarray(bodyEnd, macAt),
        publicKey,
        place,
      )
    let body: Uint8Array | undefined = sealed.subarray(bodyStart, bodyEnd)
    if (encryptionId !== undefined && nonce !== undefined) {
      const key = findKey(keys.encryption, encryptionId)
      if (key === undefined) throw refused(place, `it is encrypted with the key "${encryptionId}"`)
      body = await ports.cipher.decrypt(key.bytes, nonce, sealed.subarray(0, bodyStart), body)
      if (body === undefined) throw damaged(place, 'it cannot be decrypted')
    }
    this.#before = ports.hash.sha256(sealed)
    this.#signedBy = publicKey
    return body
  }

  async #checkSignature(
    unsigned: Uint8Array,
    signature: Uint8Array,
    publicKey: Uint8Array,
    place: EntryOf,
  ): Promise<void> {
    const { trusted } = this.#options
    if (trusted === undefined) return
    if (!trusted.keys.some((key) => sameBytes(key, publicKey)))
      throw refused(place, `it is signed by ${toHex(publicKey)}, who is not trusted`, 'signature')
    const bytes = placed('signed', this.#kind, place, unsigned)
    if (!(await trusted.check.isSigned(bytes, signature, publicKey)))
      throw refused(place, 'its signature is wrong', 'signature')
  }

  #checkMac(sealed: Uint8Array, macAt: number, id: string | undefined, place: EntryOf): void {
    const { ports, keys = {} } = this.#options
    if (keys.mac === undefined) return
    if (id === undefined) throw refused(place, 'it is not authenticated')
    const key = findKey(keys.mac, id)
    if (key === undefined) throw refused(place, `it is authenticated with the key "${id}"`)
    const expected = ports.hash.hmacSha256(
      key.bytes,
      placed('caisson', this.#kind, place, sealed.subarray(0, macAt)),
    )
    if (!sameBytes(expected, sealed.subarray(macAt))) throw refused(place, 'its MAC is wrong')
  }
}

/** Bytes at their place. A MAC is never a signature, nor the other way round. */
function placed(
  what: 'caisson' | 'signed',
  kind: LogKind,
  { tenant, run, at }: EntryPlace,
  bytes: Uint8Array,
): Uint8Array {
  const place = new TextEncoder().encode(`${what} ${kind} 1\n${JSON.stringify([tenant, run, at])}\n`)
  return joined(place, bytes)
}

interface EntryStart {
  readonly before: Uint8Array
  readonly encryptionId: string | undefined
  readonly nonce: Uint8Array | undefined
  readonly macId: string | undefined
  readonly publicKey: Uint8Array | undefined
  readonly bodyStart: number
}

/** What stands before the body. @throws CaissonError `corrupted` */
function readStart(sealed: Uint8Array, place: EntryOf): EntryStart {
  const reader = new ByteReader(sealed)
  try {
    if (reader.byte() !== VERSION) throw damaged(place, 'it is not of version 1')
    const flags = reader.byte()
    if ((flags & ~(ENCRYPTED | AUTHENTICATED | SIGNED)) !== 0)
      throw damaged(place, 'it has flags that this version does not know')
    const before = reader.raw(DIGEST_BYTES)
    const encryptionId = flags & ENCRYPTED ? readId(reader) : undefined
    const nonce = flags & ENCRYPTED ? reader.raw(NONCE_BYTES) : undefined
    const macId = flags & AUTHENTICATED ? readId(reader) : undefined
    const publicKey = flags & SIGNED ? reader.raw(PUBLIC_KEY_BYTES).slice() : undefined
    return { before, encryptionId, nonce, macId, publicKey, bodyStart: reader.offset }
  } catch (error) {
    // What the reader says names no place in the log.
    throw CaissonError.is(error) && 'at' in error.details ? error : damaged(place, 'it ends too early')
  }
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

function damaged({ run, at, kind }: EntryOf, what: string): CaissonError {
  const message = `Entry ${at} of the ${CALLED[kind]} of run "${run}" is damaged: ${what}.`
  return new CaissonError('corrupted', message, { details: { run, at } })
}

function refused({ run, at, kind }: EntryOf, what: string, differs: string = 'log'): CaissonError {
  const message = `Entry ${at} of the ${CALLED[kind]} of run "${run}" is not taken: ${what}.`
  return new CaissonError('checkpoint_refused', message, { details: { differs, run, at } })
}
