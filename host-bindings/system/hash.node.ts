/** SHA-256 by OpenSSL, which uses the processor's own instructions. */
import crypto, { createHash, createHmac } from 'node:crypto'
import type { Hash, HashStream } from '../../src/ports/hash.ts'

/** Without an object for each digest, which costs as much as digesting a kilobyte. Not in every Bun and Deno. */
const hashAtOnce: typeof crypto.hash | undefined = crypto.hash

const BLOCK_BYTES = 64
const DIGEST_BYTES = 32
/** Copying more than this takes longer than an object for each MAC. */
const MOST_AT_ONCE = 8_192

/** What the two digests of a MAC are over: a block made of the key, and what follows it. Filled anew each time. */
const inner = new Uint8Array(BLOCK_BYTES + MOST_AT_ONCE)
const outer = new Uint8Array(BLOCK_BYTES + DIGEST_BYTES)

/** Several times as fast as the neutral one, from about 100 bytes on. */
export const nodeHash: Hash = {
  sha256: (bytes) =>
    bytesOf(hashAtOnce?.('sha256', bytes, 'binary') ?? createHash('sha256').update(bytes).digest('binary')),
  hmacSha256: (key, bytes) =>
    hashAtOnce === undefined || bytes.length > MOST_AT_ONCE || key.length > BLOCK_BYTES
      ? bytesOf(createHmac('sha256', key).update(bytes).digest('binary'))
      : hmacAtOnce(hashAtOnce, key, bytes),
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

/** RFC 2104 out of two digests: an object for a MAC costs as much as both of them, and the collector again. */
function hmacAtOnce(hash: typeof crypto.hash, key: Uint8Array, bytes: Uint8Array): Uint8Array {
  for (let i = 0; i < BLOCK_BYTES; i++) {
    const byte = key[i] ?? 0
    inner[i] = byte ^ 0x36
    outer[i] = byte ^ 0x5c
  }
  inner.set(bytes, BLOCK_BYTES)
  write(hash('sha256', inner.subarray(0, BLOCK_BYTES + bytes.length), 'binary'), outer, BLOCK_BYTES)
  const mac = bytesOf(hash('sha256', outer, 'binary'))
  // The key stays with its owner.
  inner.fill(0, 0, BLOCK_BYTES)
  outer.fill(0)
  return mac
}

/** Out of a string of bytes: a `Buffer` takes memory outside of the heap, and longer than digesting a small input. */
function bytesOf(digest: string): Uint8Array {
  const bytes = new Uint8Array(digest.length)
  write(digest, bytes, 0)
  return bytes
}

function write(digest: string, to: Uint8Array, at: number): void {
  for (let i = 0; i < digest.length; i++) to[at + i] = digest.charCodeAt(i)
}
