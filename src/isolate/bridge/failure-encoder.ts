/** Encodes a failed call for the builder of `BRIDGE_SOURCE`. */
import type { GuestFailure } from '../../machine/turn.ts'
import { BUILD } from './bridge-source.ts'
import type { BytecodeBuffer } from './bytecode-buffer.ts'

/** Appends the table for a failed call: an `Error` with `code` and `details`. */
export function encodeFailure(out: BytecodeBuffer, failure: GuestFailure): void {
  const details = Object.entries(failure.details ?? {})
  out.array(5)
  out.array(2)
  out.undefined()
  out.array(6 + (failure.details === undefined ? 0 : 2) + (failure.frames === undefined ? 0 : 2))
  out.string(failure.name ?? 'Error')
  out.string(failure.message)
  out.boolean(false)
  out.undefined()
  out.string('code')
  out.string(failure.code)
  if (failure.frames !== undefined) {
    out.string('stack')
    out.string(failure.frames)
  }
  if (failure.details !== undefined) {
    out.string('details')
    out.object(details.length)
    for (const [key, value] of details) {
      out.name(key)
      if (typeof value === 'number') out.number(value)
      else if (typeof value === 'boolean') out.boolean(value)
      else out.string(value)
    }
  }
  out.array(3)
  for (const part of [0, BUILD.failure, 1]) out.number(part)
  out.array(0)
  out.number(-1)
  out.number(0)
}
