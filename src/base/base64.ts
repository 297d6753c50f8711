/** Base64 (RFC 4648, section 4, with padding), without the `Buffer` of Node. */
import { CaissonError } from './errors.ts'

/** Bytes turned into a string at once: well below the number of arguments that engines take. */
const CHUNK = 8192
/** Without repeated groups: engines keep a place for each repetition, and run out of stack at some megabytes. */
const OTHER = /[^A-Za-z0-9+/]/

export function toBase64(bytes: Uint8Array): string {
  let binary = ''
  for (let i = 0; i < bytes.length; i += CHUNK) {
    binary += String.fromCharCode.apply(null, bytes.subarray(i, i + CHUNK) as unknown as number[])
  }
  return btoa(binary)
}

/** @throws CaissonError `corrupted` when `text` is not base64 with padding */
export function fromBase64(text: string): Uint8Array {
  // `atob` alone forgives spaces and missing padding.
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  if (text.length % 4 !== 0 || OTHER.test(text.slice(0, text.length - padding))) {
    throw new CaissonError('corrupted', 'Expected base64.')
  }
  const binary = atob(text)
  const bytes = new Uint8Array(binary.length)
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i)
  return bytes
}
