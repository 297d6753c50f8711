/**
 * Results of preparation, kept where others may read and write, and trusted as far as the host's key reaches.
 *
 * Invariants
 * 1. Nothing that a store gives is used before all of it was authenticated, under the name that was asked for, with the
 *    host's key. What was cut, changed, swapped, written with another key or by another version is prepared anew and
 *    replaced; it is no error.
 * 2. The name of an entry says all that the result depends on: the digest of the input, the rules and versions of the
 *    tools, the options. It depends on the key too, so that hosts with different keys do not overwrite each other's.
 * 3. What is authenticated is a copy that nobody else has.
 * 4. A store that fails costs time and nothing else. Entries above `maxEntryBytes` are neither written nor read.
 * 5. Digests over much are taken in pieces that leave the host's loop its turns.
 */
import { toHex } from '../../base/bytes.ts'
import type { Digest } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import type { CheckpointPorts } from '../../ports/checkpoint-ports.ts'
import type { HashStream } from '../../ports/hash.ts'
import type { PreparedStore } from '../../ports/prepared-store.ts'
import { sameBytes } from '../../snapshot/same-bytes.ts'
import { decodeEntry, ENTRY_FORMAT, encodeEntry, MAC_BYTES, type PreparedParts } from './prepared-entry.ts'

export interface PreparedCacheOptions {
  readonly store: PreparedStore
  /** 32 random bytes that the host keeps to itself. Whoever has them decides what is run. */
  readonly key: Uint8Array
  /** Of one entry; default 256 MiB. */
  readonly maxEntryBytes?: number
  /** Told what the store threw. What the listener throws is dropped. */
  readonly onStoreError?: (error: unknown) => void
}

/** What is prepared, and all that the result depends on beside its bytes. */
export interface PreparedWork {
  readonly bytes: Uint8Array
  /** Their SHA-256, where it was taken before. */
  readonly digest?: Digest | undefined
  /** Plain JSON, in a fixed order: kind, rules and versions of the tools, every option. */
  readonly how: readonly unknown[]
}

const KEY_BYTES = 32
const DIGEST_PREFIX = 'sha256:'
const DEFAULT_MOST: number = 256 * 1024 * 1024
/** Some milliseconds of digesting, on a slow host. */
const PIECE_BYTES: number = 2 * 1024 * 1024

export class PreparedCache {
  readonly #options: PreparedCacheOptions
  readonly #ports: Pick<CheckpointPorts, 'hash' | 'pause'>
  readonly #nameKey: Uint8Array
  readonly #macKey: Uint8Array
  /** Names the key without telling it: who keeps what came out in memory keeps it for this key alone. */
  readonly keyName: string

  /** @throws CaissonError `invalid_argument` */
  constructor(options: PreparedCacheOptions, ports: Pick<CheckpointPorts, 'hash' | 'pause'>) {
    const { key } = options
    if (!(key instanceof Uint8Array) || key.length !== KEY_BYTES)
      throw new CaissonError('invalid_argument', `The key of a cache must be ${KEY_BYTES} bytes.`)
    this.#options = options
    this.#ports = ports
    // Keys of their own: the host's may serve elsewhere.
    this.#nameKey = ports.hash.hmacSha256(key, encode('caisson prepared: names'))
    this.#macKey = ports.hash.hmacSha256(key, encode('caisson prepared: entries'))
    this.keyName = toHex(ports.hash.hmacSha256(key, encode('caisson prepared: key')))
  }

  /**
   * What `build` makes of the work, from the store where it is there.
   *
   * @param work its bytes must not change meanwhile: a copy of the caller's own
   * @throws what `build` throws
   */
  async prepare(work: PreparedWork, build: () => Promise<PreparedParts>): Promise<PreparedParts> {
    const name = await this.#nameOf(work)
    const known = await this.#read(name)
    if (known !== undefined) return known
    const built = await build()
    await this.#write(name, built)
    return built
  }

  async #nameOf({ bytes, digest, how }: PreparedWork): Promise<Uint8Array> {
    const { hash } = this.#ports
    const input = digest?.slice(DIGEST_PREFIX.length) ?? toHex(await this.#over(hash.openSha256(), bytes))
    return hash.hmacSha256(this.#nameKey, encode(JSON.stringify([ENTRY_FORMAT, input, ...how])))
  }

  async #read(name: Uint8Array): Promise<PreparedParts | undefined> {
    const { store, maxEntryBytes = DEFAULT_MOST } = this.#options
    let given: Uint8Array | undefined
    try {
      given = await store.get(toHex(name), maxEntryBytes)
    } catch (error) {
      this.#tell(error)
    }
    if (!(given instanceof Uint8Array) || given.length < MAC_BYTES || given.length > maxEntryBytes)
      return undefined
    const bytes = new Uint8Array(given)
    const mac = bytes.subarray(bytes.length - MAC_BYTES)
    if (!sameBytes(await this.#macOf(name, bytes), mac)) return undefined
    return decodeEntry(bytes)
  }

  async #write(name: Uint8Array, built: PreparedParts): Promise<void> {
    const { store, maxEntryBytes = DEFAULT_MOST } = this.#options
    const most = built.parts.reduce((sum, part) => sum + part.length, 0)
    if (most > maxEntryBytes) return
    const bytes = encodeEntry(built)
    if (bytes.length > maxEntryBytes) return
    bytes.set(await this.#macOf(name, bytes), bytes.length - MAC_BYTES)
    try {
      await store.put(toHex(name), bytes)
    } catch (error) {
      this.#tell(error)
    }
  }

  async #macOf(name: Uint8Array, entry: Uint8Array): Promise<Uint8Array> {
    const stream = this.#ports.hash.openHmacSha256(this.#macKey)
    stream.update(name)
    return this.#over(stream, entry.subarray(0, entry.length - MAC_BYTES))
  }

  async #over(stream: HashStream, bytes: Uint8Array): Promise<Uint8Array> {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      if (at > 0) await this.#ports.pause()
      stream.update(bytes.subarray(at, at + PIECE_BYTES))
    }
    return stream.digest()
  }

  #tell(error: unknown): void {
    try {
      this.#options.onStoreError?.(error)
    } catch {
      // It was told.
    }
  }
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
