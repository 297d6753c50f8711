/** AES-256-GCM by OpenSSL: at once for what is small, in another thread for what is large. */
import { createCipheriv, createDecipheriv } from 'node:crypto'
import type { Cipher } from '../../src/ports/cipher.ts'
import { webCipher } from './web-cipher.ts'

const ALGORITHM = 'aes-256-gcm'
const TAG_BYTES = 16

/** Takes less than 0.1 ms; a thread costs that much to ask. */
const AT_ONCE_BYTES = 65_536

export const nodeCipher: Cipher = {
  encrypt(key, nonce, additional, plain) {
    if (plain.length > AT_ONCE_BYTES) return webCipher.encrypt(key, nonce, additional, plain)
    const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
    cipher.setAAD(additional)
    const sealed = new Uint8Array(plain.length + TAG_BYTES)
    sealed.set(cipher.update(plain))
    cipher.final()
    sealed.set(cipher.getAuthTag(), plain.length)
    return sealed
  },

  decrypt(key, nonce, additional, sealed) {
    if (sealed.length < TAG_BYTES) return undefined
    if (sealed.length > AT_ONCE_BYTES) return webCipher.decrypt(key, nonce, additional, sealed)
    const length = sealed.length - TAG_BYTES
    const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
    decipher.setAAD(additional)
    decipher.setAuthTag(sealed.subarray(length))
    const plain = new Uint8Array(decipher.update(sealed.subarray(0, length)))
    try {
      decipher.final()
    } catch {
      return undefined
    }
    return plain
  },
}
