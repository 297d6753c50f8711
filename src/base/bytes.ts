/** Bytes as text and back, and after each other. */
import { CaissonError } from './errors.ts'

/** The two digits of each byte, as their codes. */
const DIGITS: Uint8Array = new Uint8Array(512)
for (let byte = 0; byte < 256; byte++) {
  const digits = byte.toString(16).padStart(2, '0')
  DIGITS[2 * byte] = digits.charCodeAt(0)
  DIGITS[2 * byte + 1] = digits.charCodeAt(1)
}

/** Room for the digits of a digest, which are asked for most. */
const DIGEST_DIGITS: Uint8Array = new Uint8Array(64)

const ascii = new TextDecoder()

/** Lower-case hexadecimal digits, two per byte. */
export function toHex(bytes: Uint8Array): string {
  // One text at once: joined of pieces, it would be put together when it is first looked at, which takes twice as long.
  const digits = 2 * bytes.length === DIGEST_DIGITS.length ? DIGEST_DIGITS : new Uint8Array(2 * bytes.length)
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number
    digits[2 * i] = DIGITS[2 * byte] as number
    digits[2 * i + 1] = DIGITS[2 * byte + 1] as number
  }
  return ascii.decode(digits)
}

/**
 * The bytes of hexadecimal digits, in either case.
 * @throws CaissonError `corrupted` when `text` is anything else
 */
export function fromHex(text: string): Uint8Array {
  if (text.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(text)) {
    throw new CaissonError('corrupted', 'Expected an even number of hexadecimal digits.')
  }
  const bytes = new Uint8Array(text.length / 2)
  for (let i = 0; i < bytes.length; i++) bytes[i] = 16 * digitAt(text, 2 * i) + digitAt(text, 2 * i + 1)
  return bytes
}

/** @param length of all parts together, where it is known */
export function concatBytes(
  parts: readonly Uint8Array[],
  length: number = parts.reduce((sum, part) => sum + part.length, 0),
): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

function digitAt(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  // A digit, or a letter in either case.
  return unit < 0x40 ? unit - 0x30 : (unit & 0x1f) + 9
}
