/**
 * SHA-256, synchronously: WebCrypto answers only with a promise, and digests are taken inside turns.
 *
 * Content-addressed things are compared by these digests, so a digest is a type of its own: text in the one form
 * `sha256:` and 64 lower-case hexadecimal digits.
 */
import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js'
import { toHex } from './bytes.ts'

declare const digestBrand: unique symbol

/** `sha256:` and 64 lower-case hexadecimal digits. */
export type Digest = `sha256:${string}` & { readonly [digestBrand]: true }

/** The digest of `bytes`. */
export function sha256(bytes: Uint8Array): Digest {
  return digestOf(nobleSha256(bytes))
}

/** The digest of `bytes` as its 32 bytes: for keys and seeds. */
export function sha256Bytes(bytes: Uint8Array): Uint8Array {
  return nobleSha256(bytes)
}

/** Takes bytes in pieces. */
export interface Hasher {
  /** Adds bytes, which are read before this returns. */
  update(bytes: Uint8Array): this
  /** The digest of everything added. The hasher takes nothing more after that. */
  digest(): Digest
}

/** A digest over pieces: equal to the digest of all of them in one. */
export function sha256Hasher(): Hasher {
  const hash = nobleSha256.create()
  const hasher: Hasher = {
    update(bytes) {
      hash.update(bytes)
      return hasher
    },
    digest: () => digestOf(hash.digest()),
  }
  return hasher
}

/** The digest as text, of its 32 bytes. */
export function digestOf(hash: Uint8Array): Digest {
  return `sha256:${toHex(hash)}` as Digest
}

/** The 32 bytes of a digest. */
export function digestBytes(digest: Digest): Uint8Array {
  const bytes = new Uint8Array(32)
  for (let i = 0; i < 32; i++) bytes[i] = (hexDigit(digest, 7 + 2 * i) << 4) | hexDigit(digest, 8 + 2 * i)
  return bytes
}

function hexDigit(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  return unit > 0x60 ? unit - 0x57 : unit - 0x30
}

/** Whether `value` is a digest as text. */
export function isDigest(value: unknown): value is Digest {
  return typeof value === 'string' && /^sha256:[0-9a-f]{64}$/.test(value)
}
