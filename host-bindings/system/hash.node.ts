/** SHA-256 by OpenSSL, which uses the processor's own instructions. */
import crypto, { createHash, createHmac } from 'node:crypto'
import type { Hash, HashStream } from '../../src/ports/hash.ts'

/** Without an object for each digest, which costs as much as digesting a kilobyte. Not in every Bun and Deno. */
const hashAtOnce: typeof crypto.hash | undefined = crypto.hash

/** Several times as fast as the neutral one, from about 100 bytes on. */
export const nodeHash: Hash = {
  sha256: (bytes) =>
    plain(hashAtOnce?.('sha256', bytes, 'buffer') ?? createHash('sha256').update(bytes).digest()),
  hmacSha256: (key, bytes) => plain(createHmac('sha256', key).update(bytes).digest()),
  openSha256: () => stream(createHash('sha256')),
  openHmacSha256: (key) => stream(createHmac('sha256', key)),
}

function stream(hash: ReturnType<typeof createHash> | ReturnType<typeof createHmac>): HashStream {
  return {
    update: (bytes) => {
      hash.update(bytes)
    },
    digest: () => plain(hash.digest()),
  }
}

/** A `Buffer` is a window into a pool that other bytes lie in; what leaves is an array of its own. */
function plain(buffer: Buffer): Uint8Array {
  return new Uint8Array(buffer)
}
