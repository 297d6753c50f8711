/** Strings in the three encodings of the canonical ABI. Source: CanonicalABI.md, "Loading" and "Storing". */
import type { StringEncoding } from '../binary/component-ast.ts'
import { GuestFault, type GuestMemory } from './guest-memory.ts'
import type { ValueBudget } from './value-budget.ts'

const UTF8: TextDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const UTF16: TextDecoder = new TextDecoder('utf-16le', { fatal: true, ignoreBOM: true })
const ENCODER: TextEncoder = new TextEncoder()

/** Texts up to this many bytes are read by hand: a call of the decoder costs more (bench: component). */
const SHORT = 24
/** Set in the length of a `latin1+utf16` string that is UTF-16. */
const UTF16_TAG = 0x8000_0000
/** No string is longer than this, in bytes. */
const MOST_BYTES = 0x7fff_ffff

/** @throws GuestFault */
export function loadText(
  memory: GuestMemory,
  encoding: StringEncoding,
  pointer: number,
  units: number,
  budget: ValueBudget,
): string {
  const wide = encoding === 'utf16' || (encoding === 'latin1+utf16' && units >= UTF16_TAG)
  const count = encoding === 'latin1+utf16' && wide ? units - UTF16_TAG : units
  const length = wide ? count * 2 : count
  if (length > MOST_BYTES) throw new GuestFault('A string is longer than any may be.')
  memory.check(pointer, length, encoding === 'utf8' ? 1 : 2)
  budget.take(1, length)
  const { bytes } = memory
  if (encoding !== 'utf16' && !wide && length <= SHORT) {
    const short = shortAscii(bytes, pointer, length)
    if (short !== undefined) return short
  }
  const view = bytes.subarray(pointer, pointer + length)
  if (encoding === 'latin1+utf16' && !wide) return latin1(view)
  try {
    return (wide ? UTF16 : UTF8).decode(view)
  } catch {
    throw new GuestFault(`A string is not ${wide ? 'UTF-16' : 'UTF-8'}.`)
  }
}

function shortAscii(bytes: Uint8Array, from: number, length: number): string | undefined {
  let text = ''
  for (let at = from; at < from + length; at += 1) {
    const byte = bytes[at] as number
    if (byte > 0x7f) return undefined
    text += String.fromCharCode(byte)
  }
  return text
}

function latin1(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 4096)
    text += String.fromCharCode(...bytes.subarray(at, at + 4096))
  return text
}

/** Where a string lies in the guest, and how many units it has there. @throws GuestFault, CaissonError `value_too_large` */
export function storeText(
  memory: GuestMemory,
  encoding: StringEncoding,
  text: string,
  budget: ValueBudget,
): readonly [pointer: number, units: number] {
  if (encoding === 'utf8') {
    budget.take(1, text.length)
    if (text.length <= SHORT && isAscii(text)) {
      const pointer = memory.allocate(1, text.length)
      const { bytes } = memory
      for (let at = 0; at < text.length; at += 1) bytes[pointer + at] = text.charCodeAt(at)
      return [pointer, text.length]
    }
    const encoded = ENCODER.encode(text)
    budget.take(0, encoded.length - text.length)
    const pointer = memory.allocate(1, encoded.length)
    memory.bytes.set(encoded, pointer)
    return [pointer, encoded.length]
  }
  const narrow = encoding === 'latin1+utf16' && isLatin1(text)
  const size = narrow ? text.length : text.length * 2
  budget.take(1, size)
  if (size > MOST_BYTES) throw new GuestFault('A string is longer than any may be.')
  const pointer = memory.allocate(2, size)
  const { view } = memory
  for (let at = 0; at < text.length; at += 1) {
    if (narrow) view.setUint8(pointer + at, text.charCodeAt(at))
    else view.setUint16(pointer + at * 2, text.charCodeAt(at), true)
  }
  return [pointer, encoding === 'latin1+utf16' && !narrow ? text.length + UTF16_TAG : text.length]
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x7f) return false
  return true
}

function isLatin1(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0xff) return false
  return true
}
