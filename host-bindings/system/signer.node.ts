/** Ed25519 by node:crypto, synchronously. */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import type { SignatureCheck, Signer } from '../../src/ports/signer.ts'
import { parsePrivateKey, publicKeyInfo } from './ed25519-keys.ts'

const KEY_BYTES = 32
const MOST_KEPT = 100

/**
 * Opens a private key to sign with.
 * @param pem as `openssl genpkey -algorithm ed25519` writes it, not encrypted
 * @throws CaissonError `invalid_argument`
 */
export async function openSigner(pem: string): Promise<Signer> {
  const key = createPrivateKey({ key: Buffer.from(parsePrivateKey(pem)), format: 'der', type: 'pkcs8' })
  const info = createPublicKey(key).export({ format: 'der', type: 'spki' })
  return {
    publicKey: new Uint8Array(info.subarray(-KEY_BYTES)),
    sign: (bytes) => new Uint8Array(sign(null, bytes, key)),
  }
}

/** Keys that were read, by their digits: reading one takes as long as checking a signature. */
const known = new Map<string, KeyObject>()

export const nodeSignatureCheck: SignatureCheck = {
  isSigned(bytes, signature, publicKey) {
    try {
      return verify(null, bytes, keyOf(publicKey), signature)
    } catch {
      return false
    }
  },
}

function keyOf(publicKey: Uint8Array): KeyObject {
  const digits = Buffer.from(publicKey).toString('hex')
  let key = known.get(digits)
  if (key === undefined) {
    if (publicKey.length !== KEY_BYTES) throw new TypeError('No key.')
    key = createPublicKey({ key: Buffer.from(publicKeyInfo(publicKey)), format: 'der', type: 'spki' })
    if (known.size >= MOST_KEPT) known.clear()
    known.set(digits, key)
  }
  return key
}
