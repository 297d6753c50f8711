/** The forms of tagged JSON that hold no other values: see tagged-json.ts. Their content is hostile. */
import { fromBase64 } from '../base/base64.ts'
import { CaissonError } from '../base/errors.ts'
import { clipText, escapeText } from '../base/escape-text.ts'
import { type HostWork, patternWork } from './host-work.ts'
import { MAX_DECIMAL_BITS } from './tagged-json-form.ts'
import { MAX_REGEXP_SOURCE } from './value-meter.ts'

/** A decimal bigint of the widest permitted size has fewer digits. */
const MAX_DECIMAL_DIGITS = Math.ceil(MAX_DECIMAL_BITS * Math.log10(2)) + 1
const BIGINT = /^-?(?:0|[1-9]\d*|0x[0-9a-f]+)$/
const NUMBERS: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '-Infinity': Number.NEGATIVE_INFINITY,
  '-0': -0,
}

/** The refusal of the form at `path`. Both texts may be hostile. */
export function refused(path: string, what: string): CaissonError {
  const where = escapeText(clipText(path, 200))
  return new CaissonError('invalid_argument', `${where} ${escapeText(clipText(what, 200))}.`, {
    details: { path: where },
  })
}

/** A number that JSON lacks, by its name. @throws CaissonError `invalid_argument` */
export function numberOf(text: unknown, path: string): number {
  const number = typeof text === 'string' && Object.hasOwn(NUMBERS, text) ? NUMBERS[text] : undefined
  if (number === undefined) throw refused(path, `is no number; there are ${Object.keys(NUMBERS).join(', ')}`)
  return number
}

/** A bigint by its decimal or hexadecimal digits. @throws CaissonError `invalid_argument` */
export function bigintOf(text: unknown, path: string): bigint {
  if (typeof text !== 'string' || !BIGINT.test(text)) throw refused(path, 'is no bigint')
  if (!text.includes('x') && text.length > MAX_DECIMAL_DIGITS) {
    throw refused(
      path,
      `is a decimal bigint of more than ${MAX_DECIMAL_DIGITS} digits; write it in hexadecimal`,
    )
  }
  return text.startsWith('-') ? -BigInt(text.slice(1)) : BigInt(text)
}

/** A date in ISO 8601; null is the invalid date. @throws CaissonError `invalid_argument` */
export function dateOf(text: unknown, path: string): Date {
  if (text === null) return new Date(Number.NaN)
  const date = new Date(typeof text === 'string' ? text : Number.NaN)
  if (Number.isNaN(date.getTime())) throw refused(path, 'is no date in ISO 8601, nor null')
  return date
}

/** A RegExp by source and flags. @throws CaissonError `invalid_argument`, `value_too_large` */
export function regExpOf(form: Readonly<Record<string, unknown>>, path: string, work: HostWork): RegExp {
  const { source, flags } = form
  if (typeof source !== 'string' || typeof flags !== 'string' || source.length > MAX_REGEXP_SOURCE) {
    throw refused(path, 'is a RegExp without source and flags, or with a source that is too long')
  }
  work.charge(patternWork(source))
  try {
    return new RegExp(source, flags)
  } catch {
    throw refused(path, 'is a RegExp that cannot be parsed')
  }
}

/** A buffer by its base64. @throws CaissonError `invalid_argument` */
export function bufferOf(base64: unknown, path: string): ArrayBuffer {
  try {
    return fromBase64(typeof base64 === 'string' ? base64 : '*').buffer as ArrayBuffer
  } catch {
    throw refused(path, 'is a buffer without base64')
  }
}
