/** AES-256-GCM by OpenSSL: at once for what is small, in steps for what is large. */
import { type CipherGCM, createCipheriv, createDecipheriv, type DecipherGCM } from 'node:crypto'
import type { Cipher } from '../../src/ports/cipher.ts'
import { pause } from './pause.node.ts'

const ALGORITHM = 'aes-256-gcm'
const TAG_BYTES = 16
const OPTIONS = { authTagLength: TAG_BYTES }

/** Takes less than a millisecond. WebCrypto would take another thread, and copy all of it at once before. */
const STEP_BYTES = 524_288

export const nodeCipher: Cipher = {
  encrypt(key, nonce, additional, plain) {
    const cipher = createCipheriv(ALGORITHM, key, nonce, OPTIONS).setAAD(additional)
    const sealed = new Uint8Array(plain.length + TAG_BYTES)
    const finish = (): Uint8Array => {
      cipher.final()
      sealed.set(cipher.getAuthTag(), plain.length)
      return sealed
    }
    const working = update(cipher, plain, sealed)
    return working === undefined ? finish() : working.then(finish)
  },

  decrypt(key, nonce, additional, sealed) {
    if (sealed.length < TAG_BYTES) return undefined
    const length = sealed.length - TAG_BYTES
    const decipher = createDecipheriv(ALGORITHM, key, nonce, OPTIONS)
      .setAAD(additional)
      .setAuthTag(sealed.subarray(length))
    const plain = new Uint8Array(length)
    const finish = (): Uint8Array | undefined => {
      try {
        decipher.final()
        return plain
      } catch {
        return undefined
      }
    }
    const working = update(decipher, sealed.subarray(0, length), plain)
    return working === undefined ? finish() : working.then(finish)
  },
}

/** Undefined when it was done at once. */
function update(
  cipher: CipherGCM | DecipherGCM,
  from: Uint8Array,
  to: Uint8Array,
): Promise<void> | undefined {
  const step = (at: number): void => to.set(cipher.update(from.subarray(at, at + STEP_BYTES)), at)
  if (from.length > 0) step(0)
  if (from.length <= STEP_BYTES) return undefined
  return (async () => {
    for (let at = STEP_BYTES; at < from.length; at += STEP_BYTES) {
      await pause()
      step(at)
    }
  })()
}
