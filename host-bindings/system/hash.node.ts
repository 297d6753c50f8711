/** SHA-256 by OpenSSL, which uses the processor's own instructions. */
import crypto, { createHash, createHmac } from 'node:crypto'
import type { Hash, HashStream } from '../../src/ports/hash.ts'

/** Without an object for each digest, which costs as much as digesting a kilobyte. Not in every Bun and Deno. */
const hashAtOnce: typeof crypto.hash | undefined = crypto.hash

/** Several times as fast as the neutral one, from about 100 bytes on. */
export const nodeHash: Hash = {
  sha256: (bytes) =>
    bytesOf(hashAtOnce?.('sha256', bytes, 'binary') ?? createHash('sha256').update(bytes).digest('binary')),
  hmacSha256: (key, bytes) => bytesOf(createHmac('sha256', key).update(bytes).digest('binary')),
  openSha256: () => stream(createHash('sha256')),
  openHmacSha256: (key) => stream(createHmac('sha256', key)),
}

function stream(hash: ReturnType<typeof createHash> | ReturnType<typeof createHmac>): HashStream {
  return {
    update: (bytes) => {
      hash.update(bytes)
    },
    digest: () => bytesOf(hash.digest('binary')),
  }
}

/** Out of a string of bytes: a `Buffer` takes memory outside of the heap, and longer than digesting a small input. */
function bytesOf(digest: string): Uint8Array {
  const bytes = new Uint8Array(digest.length)
  for (let i = 0; i < bytes.length; i++) bytes[i] = digest.charCodeAt(i)
  return bytes
}
