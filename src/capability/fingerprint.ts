/**
 * Values as short texts that tell them apart: equal ones have equal texts. No digest: who wants to can make two values
 * with one text, and gains nothing but to be taken for somebody who repeats himself.
 */
import { withCanonical } from '../values/encode-canonical.ts'
import { DEFAULT_VALUE_LIMITS, type ValueLimits } from '../values/limits.ts'

/** 53 bits over the canonical encoding, in base 36; undefined for what no encoding takes. Never throws. */
export function fingerprint(value: unknown, limits: ValueLimits = DEFAULT_VALUE_LIMITS): string | undefined {
  try {
    return withCanonical(value, limits, hash)
  } catch {
    return undefined
  }
}

/** Two lanes of 32 bits, mixed as in MurmurHash. */
function hash(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let a = 0xdeadbeef ^ bytes.length
  let b = 0x41c6ce57 ^ bytes.length
  let at = 0
  for (; at + 4 <= bytes.length; at += 4) {
    const word = view.getUint32(at, true)
    a = Math.imul(a ^ word, 2_654_435_761)
    b = Math.imul(b ^ word, 1_597_334_677)
    a ^= a >>> 15
    b ^= b >>> 13
  }
  for (; at < bytes.length; at += 1) {
    a = Math.imul(a ^ (bytes[at] as number), 2_654_435_761)
    b = Math.imul(b ^ (bytes[at] as number), 1_597_334_677)
  }
  a = Math.imul(a ^ (a >>> 16), 2_246_822_507) ^ Math.imul(b ^ (b >>> 13), 3_266_489_909)
  b = Math.imul(b ^ (b >>> 16), 2_246_822_507) ^ Math.imul(a ^ (a >>> 13), 3_266_489_909)
  return ((b & 0x1fffff) * 0x100000000 + (a >>> 0)).toString(36)
}
