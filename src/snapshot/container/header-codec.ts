/**
 * The header of a container, field by field in the order of their table.
 *
 * Invariants
 * 1. Bytes that are accepted are those that the decoded header encodes to.
 * 2. What is decoded has the shape of a header and nothing more: whether it may be believed is decided elsewhere.
 */
import { ByteReader } from '../../base/byte-reader.ts'
import { ByteWriter } from '../../base/byte-writer.ts'
import { type Digest, digestBytes, digestOf, isDigest } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import type { CheckpointHeader } from './checkpoint.ts'
import { DIGEST_BYTES, FLAG, LABELS, MAX_TEXT_BYTES, NONCE_BYTES } from './container-format.ts'
import { damaged } from './refusals.ts'

/** What the header of a container holds beside what a checkpoint says of itself. */
export interface ContainerHeader extends CheckpointHeader {
  readonly stateBytes: number
  /** Pages that the body says something about. */
  readonly pages: number
  readonly macKey?: string
  readonly encryptionKey?: string
  readonly nonce?: Uint8Array
}

/** How a field is written. */
export type FieldType = 'text' | 'digest' | 'number' | 'time' | 'label' | 'nonce'

/** The fields in their order, and the flag without which a field is left out. */
const HEADER_FIELDS: readonly (readonly [
  name: keyof ContainerHeader,
  type: FieldType,
  flag?: keyof typeof FLAG,
])[] = [
  ['engine', 'text'],
  ['base', 'digest'],
  ['tenant', 'text'],
  ['run', 'text'],
  ['principal', 'text'],
  ['sequence', 'number'],
  ['links', 'number'],
  ['parent', 'digest', 'delta'],
  ['label', 'label'],
  ['takenAtMs', 'time'],
  ['memoryBytes', 'number'],
  ['stateBytes', 'number'],
  ['pages', 'number'],
  ['root', 'digest'],
  ['macKey', 'text', 'authenticated'],
  ['encryptionKey', 'text', 'encrypted'],
  ['nonce', 'nonce', 'encrypted'],
]

type FieldValue = string | number | Uint8Array

const EXPECTED_BYTES = 512
const SHORT_TEXT = 128

/** Filled anew each time. */
const writer = new ByteWriter(EXPECTED_BYTES)

const utf8 = new TextEncoder()
const fatalUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** @throws CaissonError `invalid_argument` naming a field that cannot be written */
export function encodeHeader(header: ContainerHeader): Uint8Array {
  writer.clear()
  for (const [name, type] of HEADER_FIELDS) {
    const value = header[name]
    if (value !== undefined) writeField(name, type, value)
  }
  return writer.finish()
}

function writeField(name: string, type: FieldType, value: FieldValue): void {
  switch (type) {
    case 'text':
      writeText(name, value as string)
      return
    case 'digest':
      if (!isDigest(value)) throw invalid(`"${name}" is a digest`)
      writer.raw(digestBytes(value))
      return
    case 'number':
      if (!Number.isSafeInteger(value) || (value as number) < 0) throw invalid(`"${name}" is a whole number`)
      writer.varint(value as number)
      return
    case 'time':
      if (!Number.isFinite(value)) throw invalid(`"${name}" is a finite number`)
      // There is one zero.
      writer.float64((value as number) + 0)
      return
    case 'label': {
      const number = (LABELS as readonly unknown[]).indexOf(value)
      if (number < 0) throw invalid(`"${name}" is one of ${LABELS.join(', ')}`)
      writer.byte(number)
      return
    }
    case 'nonce':
      writer.raw(value as Uint8Array)
  }
}

function writeText(name: string, text: string): void {
  if (isShortAscii(text)) {
    writer.varint(text.length)
    writer.latin1(text)
    return
  }
  const bytes = utf8.encode(text)
  if (bytes.length > MAX_TEXT_BYTES || /\p{Surrogate}/u.test(text)) {
    throw invalid(`"${name}" is a text of at most ${MAX_TEXT_BYTES} bytes, without lone surrogates`)
  }
  writer.varint(bytes.length)
  writer.raw(bytes)
}

/** Names mostly are, and asking the platform's encoder for each takes longer than all the rest of a header. */
function isShortAscii(text: string): boolean {
  if (text.length > SHORT_TEXT) return false
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false
  return true
}

/** @throws CaissonError `corrupted` for reason `header` */
export function decodeHeader(bytes: Uint8Array, flags: number): ContainerHeader {
  const reader = new ByteReader(bytes)
  const fields: Partial<Record<keyof ContainerHeader, FieldValue>> = {}
  try {
    for (const [name, type, flag] of HEADER_FIELDS) {
      if (flag === undefined || (flags & FLAG[flag]) !== 0) fields[name] = readField(reader, type)
    }
    if (reader.remaining > 0) throw reader.corrupted('bytes follow the last field')
  } catch (cause) {
    throw damaged('header', 'its header is not one.', cause)
  }
  return fields as unknown as ContainerHeader
}

function readField(reader: ByteReader, type: FieldType): FieldValue {
  switch (type) {
    case 'text': {
      const length = reader.varint()
      if (length > MAX_TEXT_BYTES) throw reader.corrupted('a text is too long')
      return readText(reader.raw(length))
    }
    case 'digest':
      return digestOf(reader.raw(DIGEST_BYTES)) satisfies Digest
    case 'number':
      return reader.varint()
    case 'time': {
      const time = reader.float64()
      if (!Number.isFinite(time) || Object.is(time, -0)) throw reader.corrupted('a time is no number')
      return time
    }
    case 'label': {
      const label = LABELS[reader.byte()]
      if (label === undefined) throw reader.corrupted('there is no such label')
      return label
    }
    case 'nonce':
      return reader.raw(NONCE_BYTES)
  }
}

function readText(bytes: Uint8Array): string {
  return shortAscii(bytes) ?? fatalUtf8.decode(bytes)
}

function shortAscii(bytes: Uint8Array): string | undefined {
  if (bytes.length > SHORT_TEXT) return undefined
  let text = ''
  for (let i = 0; i < bytes.length; i++) {
    const unit = bytes[i] as number
    if (unit > 0x7f) return undefined
    text += String.fromCharCode(unit)
  }
  return text
}

function invalid(what: string): CaissonError {
  return new CaissonError('invalid_argument', `The header of a checkpoint cannot be written: ${what}.`)
}
