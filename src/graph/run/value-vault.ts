/**
 * Values of a run that can be erased: encrypted under a key of the run, without which nobody reads them again.
 *
 * Invariants
 * 1. No nonce serves for two texts: it is derived from the text itself, with a key of its own. Equal texts of one run are
 *    equal in the store, and kept once.
 * 2. What is opened is exactly what was sealed with this key.
 */
import type { CheckpointPorts } from '../../ports/checkpoint-ports.ts'

/** Of a key of a run: random, and used for nothing else. */
export const VAULT_KEY_BYTES = 32
const NONCE_BYTES = 12
const NOTHING: Uint8Array = new Uint8Array()

export class ValueVault {
  readonly #ports: Pick<CheckpointPorts, 'cipher' | 'hash'>
  readonly #encryption: Uint8Array
  readonly #nonces: Uint8Array

  /** @param key `VAULT_KEY_BYTES` random bytes */
  constructor(key: Uint8Array, ports: Pick<CheckpointPorts, 'cipher' | 'hash'>) {
    this.#ports = ports
    this.#encryption = ports.hash.hmacSha256(key, new TextEncoder().encode('caisson value encryption 1'))
    this.#nonces = ports.hash.hmacSha256(key, new TextEncoder().encode('caisson value nonces 1'))
  }

  async seal(plain: Uint8Array): Promise<Uint8Array> {
    const { cipher, hash } = this.#ports
    const nonce = hash.hmacSha256(this.#nonces, plain).subarray(0, NONCE_BYTES)
    const body = await cipher.encrypt(this.#encryption, nonce, NOTHING, plain)
    const sealed = new Uint8Array(NONCE_BYTES + body.length)
    sealed.set(nonce)
    sealed.set(body, NONCE_BYTES)
    return sealed
  }

  /** Undefined for what was not sealed with this key, or was changed. */
  async open(sealed: Uint8Array): Promise<Uint8Array | undefined> {
    if (sealed.length < NONCE_BYTES) return undefined
    const nonce = sealed.subarray(0, NONCE_BYTES)
    return this.#ports.cipher.decrypt(this.#encryption, nonce, NOTHING, sealed.subarray(NONCE_BYTES))
  }
}
