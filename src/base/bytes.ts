/** Bytes as text and back. */
import { CaissonError } from './errors.ts'

const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Lower-case hexadecimal digits, two per byte. */
export function toHex(bytes: Uint8Array): string {
  let text = ''
  for (let i = 0; i < bytes.length; i++) text += HEX[bytes[i] as number]
  return text
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
  for (let i = 0; i < bytes.length; i++) bytes[i] = Number.parseInt(text.slice(2 * i, 2 * i + 2), 16)
  return bytes
}
