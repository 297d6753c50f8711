/** Sources of random bytes: the platform's, and one that repeats itself for reproducible runs. Web-standard only. */
import { sha256 } from '@noble/hashes/sha2.js'
import { CaissonError } from '../../src/base/errors.ts'
import type { Entropy } from '../../src/ports/entropy.ts'

/** What `crypto.getRandomValues` gives in one call, and so the port's own limit. */
const MAX_BYTES = 65_536
const BLOCK_BYTES = 32

/** What is drawn ahead for small requests: one call of the platform costs what a small guest does (bench: first-result). */
const AHEAD_BYTES = 4_096
const SMALL_BYTES = 64

/** Cryptographically strong randomness of the platform. No byte is given twice, and none is kept once it was given. */
export const systemEntropy: Entropy = {
  bytes: (length) => (length <= SMALL_BYTES ? takeAhead(checkedLength(length)) : draw(checkedLength(length))),
}

let ahead = new Uint8Array(0)
let taken = 0

function draw(length: number): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(length))
}

function takeAhead(length: number): Uint8Array {
  if (taken + length > ahead.length) {
    ahead = draw(AHEAD_BYTES)
    taken = 0
  }
  const bytes = ahead.slice(taken, taken + length)
  ahead.fill(0, taken, taken + length)
  taken += length
  return bytes
}

/**
 * The same bytes for the same `seed`, on every platform: SHA-256 over the seed's digest and a block counter.
 * For runs that must be repeatable. Whoever knows the seed knows every byte.
 */
export function createSeededEntropy(seed: number | string): Entropy {
  const key = sha256(new TextEncoder().encode(`caisson seeded entropy\0${typeof seed}\0${seed}`))
  const block = new Uint8Array(key.length + 8)
  block.set(key)
  const counter = new DataView(block.buffer, key.length)
  let next = 0n
  return {
    bytes: (length) => {
      const result = new Uint8Array(checkedLength(length))
      for (let offset = 0; offset < length; offset += BLOCK_BYTES) {
        counter.setBigUint64(0, next++)
        result.set(sha256(block).subarray(0, length - offset), offset)
      }
      return result
    },
  }
}

function checkedLength(length: number): number {
  if (!Number.isInteger(length) || length < 0 || length > MAX_BYTES) {
    throw new CaissonError('invalid_argument', `Entropy is drawn in whole bytes, from 0 to ${MAX_BYTES}.`)
  }
  return length
}
