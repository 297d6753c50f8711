/**
 * Ed25519 keys as `openssl genpkey -algorithm ed25519` writes them: PEM of PKCS #8, and of SubjectPublicKeyInfo for
 * the public ones (RFC 8410). Public keys may also be 64 hexadecimal digits, as receipts show them.
 */
import { fromHex, toHex } from '../../src/base/bytes.ts'
import { CaissonError } from '../../src/base/errors.ts'

/** What a private key begins with; 32 bytes follow. */
const PRIVATE_START = '302e020100300506032b657004220420'
const PUBLIC_START = '302a300506032b6570032100'
const KEY_BYTES = 32

/** PKCS #8 of a private key. @throws CaissonError `invalid_argument` */
export function parsePrivateKey(pem: string): Uint8Array<ArrayBuffer> {
  return parsePem(pem, 'PRIVATE KEY', PRIVATE_START)
}

/** The 32 bytes of a public key. @throws CaissonError `invalid_argument` */
export function parsePublicKey(text: string): Uint8Array<ArrayBuffer> {
  const trimmed = text.trim()
  if (/^[0-9a-f]{64}$/.test(trimmed)) return new Uint8Array(fromHex(trimmed))
  return parsePem(text, 'PUBLIC KEY', PUBLIC_START).slice(-KEY_BYTES)
}

/** SubjectPublicKeyInfo of a public key. */
export function publicKeyInfo(publicKey: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(fromHex(PUBLIC_START + toHex(publicKey)))
}

function parsePem(text: string, label: string, start: string): Uint8Array<ArrayBuffer> {
  const pem = new RegExp(`-----BEGIN ${label}-----([A-Za-z0-9+/=\\s]{1,1000})-----END ${label}-----`)
  const base64 = pem.exec(text)?.[1]?.replaceAll(/\s/g, '')
  const bytes = base64 === undefined ? undefined : decoded(base64)
  if (bytes !== undefined && bytes.length === start.length / 2 + KEY_BYTES && toHex(bytes).startsWith(start))
    return bytes
  throw new CaissonError(
    'invalid_argument',
    `This is no ${label.toLowerCase()} of Ed25519 in PEM: openssl genpkey -algorithm ed25519 makes one.`,
  )
}

function decoded(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (unit) => unit.charCodeAt(0))
  } catch {
    return undefined
  }
}
