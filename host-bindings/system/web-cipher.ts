/** AES-256-GCM by WebCrypto: in every runtime, in pages only in secure contexts. */
import { CaissonError } from '../../src/base/errors.ts'
import type { Cipher } from '../../src/ports/cipher.ts'

const TAG_BYTES = 16

/** Imported keys, by the bytes they were imported from: these live as long as the embedder's own. */
const imported = new WeakMap<Uint8Array, Promise<CryptoKey>>()

/** Keys must not be changed in place: what was imported once is used from then on. */
export const webCipher: Cipher = {
  async encrypt(key, nonce, additional, plain) {
    const sealed = await subtle().encrypt(parameters(nonce, additional), await importKey(key), owned(plain))
    return new Uint8Array(sealed)
  },

  async decrypt(key, nonce, additional, sealed) {
    if (sealed.length < TAG_BYTES) return undefined
    const cryptoKey = await importKey(key)
    try {
      return new Uint8Array(await subtle().decrypt(parameters(nonce, additional), cryptoKey, owned(sealed)))
    } catch {
      // WebCrypto says nothing more than that it failed.
      return undefined
    }
  },
}

function parameters(nonce: Uint8Array, additional: Uint8Array): AesGcmParams {
  return { name: 'AES-GCM', iv: owned(nonce), additionalData: owned(additional), tagLength: 8 * TAG_BYTES }
}

function importKey(key: Uint8Array): Promise<CryptoKey> {
  let promise = imported.get(key)
  if (promise === undefined) {
    promise = subtle().importKey('raw', owned(key), 'AES-GCM', false, ['encrypt', 'decrypt'])
    imported.set(key, promise)
  }
  return promise
}

function subtle(): SubtleCrypto {
  const { subtle: found } = globalThis.crypto as { readonly subtle?: SubtleCrypto }
  if (found === undefined) {
    throw new CaissonError(
      'unsupported',
      'This page has no WebCrypto, which encrypts checkpoints: serve it by https or from localhost.',
    )
  }
  return found
}

/** WebCrypto takes no bytes of shared memory, which the types of our own bytes do not rule out. */
function owned(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes)
}
