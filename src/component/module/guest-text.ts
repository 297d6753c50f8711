/** JSON in a module's memory: bounded, checked, never a reference into it. */
import { CaissonError } from '../../base/errors.ts'
import { fromTaggedJson, toTaggedJson } from '../../values/tagged-json.ts'

/** A failure as `caisson` tells it to a module. */
interface CallFailure {
  readonly code: string
  readonly message: string
}

/**
 * A value that a guest wrote as JSON text; no bytes are `undefined`.
 * @throws CaissonError `invalid_arguments`, `value_too_large`, `value_too_deep`
 */
export function readJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return undefined
  let json: unknown
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch (cause) {
    throw new CaissonError('invalid_arguments', 'The arguments are no JSON text in UTF-8.', { cause })
  }
  return fromTaggedJson(json)
}

/** A value as JSON text in UTF-8, in tagged form where JSON cannot carry it; no bytes for `undefined`. */
export function writeJson(value: unknown): Uint8Array {
  if (value === undefined) return new Uint8Array(0)
  return new TextEncoder().encode(JSON.stringify(toTaggedJson(value)))
}

export function writeFailure({ code, message }: CallFailure): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ code, message }))
}

/** Whether a range lies inside of a memory; pointers and lengths are unsigned. */
export function isInside(memory: WebAssembly.Memory, at: number, length: number): boolean {
  return at + length <= memory.buffer.byteLength
}
