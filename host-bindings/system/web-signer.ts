/** Ed25519 by WebCrypto: in the runtimes that have it, in pages only in secure contexts. */
import { fromHex, toHex } from '../../src/base/bytes.ts'
import { CaissonError } from '../../src/base/errors.ts'
import type { SignatureCheck, Signer } from '../../src/ports/signer.ts'
import { parsePrivateKey } from './ed25519-keys.ts'

const ALGORITHM = 'Ed25519'

/**
 * Opens a private key to sign with.
 * @param pem as `openssl genpkey -algorithm ed25519` writes it, not encrypted
 * @throws CaissonError `invalid_argument`, `unsupported` where WebCrypto is missing or has no Ed25519
 */
export async function openSigner(pem: string): Promise<Signer> {
  const bytes = parsePrivateKey(pem)
  const key = await orUnsupported(() => subtle().importKey('pkcs8', bytes, ALGORITHM, true, ['sign']))
  const { x = '' } = await subtle().exportKey('jwk', key)
  const own = await subtle().importKey('pkcs8', bytes, ALGORITHM, false, ['sign'])
  return {
    publicKey: fromBase64Url(x),
    sign: async (message) => new Uint8Array(await subtle().sign(ALGORITHM, own, owned(message))),
  }
}

/** Keys that were imported, by their digits. */
const known = new Map<string, Promise<CryptoKey>>()
const MOST_KEPT = 100

export const webSignatureCheck: SignatureCheck = {
  async isSigned(bytes, signature, publicKey) {
    let key: CryptoKey
    try {
      key = await keyOf(publicKey)
    } catch (error) {
      if (CaissonError.is(error)) throw error
      return false
    }
    return subtle().verify(ALGORITHM, key, owned(signature), owned(bytes))
  },
}

function keyOf(publicKey: Uint8Array): Promise<CryptoKey> {
  const digits = toHex(publicKey)
  let key = known.get(digits)
  if (key === undefined) {
    if (known.size >= MOST_KEPT) known.clear()
    const bytes = new Uint8Array(fromHex(digits))
    key = orUnsupported(() => subtle().importKey('raw', bytes, ALGORITHM, false, ['verify']))
    known.set(digits, key)
  }
  return key
}

async function orUnsupported<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if ((cause as { name?: unknown }).name !== 'NotSupportedError') throw cause
    throw new CaissonError(
      'unsupported',
      'WebCrypto has no Ed25519 here: sign and check on a runtime that has it.',
      {
        cause,
      },
    )
  }
}

function subtle(): SubtleCrypto {
  const { subtle: found } = globalThis.crypto as { readonly subtle?: SubtleCrypto }
  if (found !== undefined) return found
  throw new CaissonError(
    'unsupported',
    'This page has no WebCrypto, which signs: serve it by https or from localhost.',
  )
}

function fromBase64Url(text: string): Uint8Array {
  const base64 = text.replaceAll('-', '+').replaceAll('_', '/')
  return Uint8Array.from(atob(base64), (unit) => unit.charCodeAt(0))
}

/** WebCrypto takes no bytes of shared memory, which the types of our own bytes do not rule out. */
function owned(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes)
}
