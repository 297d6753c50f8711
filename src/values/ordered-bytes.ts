/**
 * Values to bytes and back with the order of their keys, which the canonical encoding gives up: for records that a
 * guest is run again with, because a guest can see the order.
 *
 * The bytes are UTF-8 of the tagged JSON form. Equal values may have different bytes: digests are not taken of them.
 */
import { CaissonError } from '../base/errors.ts'
import { DEFAULT_VALUE_LIMITS, type ValueLimits } from './limits.ts'
import { plainJsonBytes, plainJsonValue } from './plain-json.ts'
import { fromTaggedJson, toTaggedJson } from './tagged-json.ts'

const utf8 = new TextEncoder()
const fatalUtf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * @param value of objects of our own making, or copied from others: an accessor of it would run
 * @throws CaissonError `value_refused`, `value_too_large`, `value_too_deep`
 */
export function encodeOrdered(value: unknown, limits: ValueLimits = DEFAULT_VALUE_LIMITS): Uint8Array {
  return plainJsonBytes(value, limits) ?? utf8.encode(JSON.stringify(toTaggedJson(value, limits)))
}

/**
 * The value that hostile bytes stand for.
 * @throws CaissonError `corrupted`, `value_too_large`, `value_too_deep`
 */
export function decodeOrdered(bytes: Uint8Array, limits: ValueLimits = DEFAULT_VALUE_LIMITS): unknown {
  try {
    const text = fatalUtf8.decode(bytes)
    const json: unknown = JSON.parse(text)
    return plainJsonValue(json, limits, text.length) ?? fromTaggedJson(json, limits)
  } catch (cause) {
    if (CaissonError.is(cause) && cause.code !== 'invalid_argument') throw cause
    throw new CaissonError('corrupted', 'Bytes that should stand for a value do not.', { cause })
  }
}
