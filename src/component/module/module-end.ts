/** How a turn of a module's core guest ended, as the end of a turn of its machine. */
import { CaissonError } from '../../base/errors.ts'
import { exhausted } from '../../machine/exhausted.ts'
import type { Limits } from '../../machine/limits.ts'
import type { GuestError, TurnEnd } from '../../machine/turn.ts'
import type { WasiEnd } from '../../ports/wasi-host.ts'
import type { CoreEnd } from '../core/core-end.ts'

/** What a module that came to its own end leaves: the value of its outcome. */
export interface ModuleResult {
  /** What it exited with, from 0 to 4294967295; 0 where it returned. A code other than 0 is no failure of the runtime's. */
  readonly exitCode: number
  readonly stdout: Uint8Array
  /** Up to `limits.logBytes`; what did not fit is counted in `usage.logsDropped`. */
  readonly stderr: Uint8Array
  /** What it made or changed in directories in memory, by absolute path as the guest sees it. */
  readonly files: Readonly<Record<string, Uint8Array>>
}

type EndedCore = Exclude<CoreEnd, { status: 'returned' | 'suspended' }>

/** What is known of a guest that ended, beside how. */
interface EndedGuest {
  /** What its WASI host says. */
  readonly said: WasiEnd | undefined
  readonly limits: Limits
  readonly memoryRefused: boolean
  /** Its own stack, in its memory, was used up. */
  readonly stackOverflowed: boolean
  /** Which way more bytes went than may, where that ended it. */
  readonly way: 'bytesIn' | 'bytesOut'
}

/**
 * The end of a module that did not return.
 * @param complete makes the end of one that exited
 */
export function endOfCore(
  end: EndedCore,
  guest: EndedGuest,
  complete: (exitCode: number) => TurnEnd,
): TurnEnd {
  const { limits } = guest
  switch (end.status) {
    case 'exited':
      return endOfExit(end.code, guest, complete)
    case 'exhausted':
      return end.limit === 'bytes' ? exhausted('bytes', limits, guest.way) : exhausted(end.limit, limits)
    case 'trapped':
      // A program that was refused memory calls `abort`, or goes on with a null pointer.
      if (end.memoryRefused) return exhausted('memory', limits)
      if (guest.stackOverflowed) return exhausted('stack', limits)
      return failed({ name: 'Trap', code: 'trapped', message: `The module trapped: ${end.trap}.` })
    case 'aborted':
      return failed({ name: 'AbortError', code: 'aborted', message: 'The run was aborted.' })
    case 'faulted':
      return failed(errorOf(end.error))
  }
}

function endOfExit(
  code: number,
  { said, limits, memoryRefused }: EndedGuest,
  complete: (exitCode: number) => TurnEnd,
): TurnEnd {
  switch (said?.kind) {
    case 'denied':
      return failed({
        name: 'Denied',
        code: 'not_granted',
        message: `The module used ${said.import}, and nobody granted it: ${said.grant}.`,
      })
    case 'limit':
      return failed({
        name: 'Denied',
        code: 'quota_exceeded',
        message: 'The module holds more resources than it may.',
      })
    case 'signal':
      return failed({ name: 'Signal', code: 'trapped', message: `The module raised signal ${said.signal}.` })
    default:
      // It may have handled that, and then says that all is well.
      return memoryRefused && code !== 0 ? exhausted('memory', limits) : complete(code)
  }
}

/** @throws what is not about the guest */
function errorOf(error: unknown): GuestError {
  if (CaissonError.is(error)) return { name: 'CaissonError', code: error.code, message: error.message }
  throw new CaissonError('isolate_destroyed', 'The host failed inside of a turn of a module.', {
    cause: error,
  })
}

function failed(error: GuestError): TurnEnd {
  return { status: 'failed', error }
}
