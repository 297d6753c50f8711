/** Values of a shape out of raw random bytes. */
import { CaissonError } from '../../src/base/errors.ts'
import type { Entropy } from '../../src/ports/entropy.ts'

/** A version 4 UUID (RFC 9562, section 5.4). */
export function uuidV4(entropy: Entropy): string {
  const bytes = entropy.bytes(16)
  const view = new DataView(bytes.buffer, bytes.byteOffset, 16)
  view.setUint8(6, (view.getUint8(6) & 0x0f) | 0x40)
  view.setUint8(8, (view.getUint8(8) & 0x3f) | 0x80)
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/**
 * A whole number from `min` to `max`, both included, every one equally likely: draws that would favour
 * small numbers are thrown away (at most every second one).
 * @throws CaissonError `invalid_arguments` where `max < min`, or where the range exceeds 2^53 numbers
 */
export function uniformInteger(entropy: Entropy, min: number, max: number): number {
  const count = BigInt(max) - BigInt(min) + 1n
  if (count < 1n) throw new CaissonError('invalid_arguments', '"max" must not be smaller than "min".')
  if (count > 1n << 53n)
    throw new CaissonError('invalid_arguments', 'The range may hold at most 2^53 numbers.')
  const limit = (1n << 64n) - ((1n << 64n) % count)
  for (;;) {
    const bytes = entropy.bytes(8)
    const draw = new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0)
    if (draw < limit) return Number(BigInt(min) + (draw % count))
  }
}
