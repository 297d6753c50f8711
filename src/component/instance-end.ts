/** What the end of a call was, from what was thrown and what its meter says. */
import { CaissonError } from '../base/errors.ts'
import { clipText } from '../base/escape-text.ts'
import { exhausted } from '../machine/exhausted.ts'
import type { Limits } from '../machine/limits.ts'
import { GuestFault } from './abi/guest-memory.ts'
import { RefusedCall } from './capability-calls.ts'
import { type ComponentEnd, GuestExit, GuestStop } from './component-outcome.ts'
import { trapOf } from './core/core-end.ts'
import type { InstanceMeter } from './instance-meter.ts'

export interface EndParts {
  readonly meter: InstanceMeter
  readonly limits: Limits
  /** The guest was on its way out of its stack, to wait. */
  readonly unwinds: boolean
}

/** @param error what came out of guest code, or of ours below it; undefined where the meter alone stopped it */
export function endOf(error: unknown, { meter, limits, unwinds }: EndParts): ComponentEnd {
  const reason = meter.gauge.stopReason
  if (error instanceof GuestStop) return error.end
  // One that was stopped meanwhile is refused because of that.
  const isStopped = reason !== undefined && reason !== 'fault' && reason !== 'bytes'
  if (error instanceof RefusedCall && !isStopped) return failed(error.failure.code, error.message)
  if (error instanceof GuestExit) return { status: 'exited', exitCode: error.exitCode }
  if (reason === 'aborted')
    return { status: 'failed', error: { name: 'Error', code: 'aborted', message: 'The call was aborted.' } }
  if (isStopped) return exhausted(reason, limits)
  if (CaissonError.is(error, 'value_too_large')) return exhausted('bytes', limits, 'bytesOut')
  if (error instanceof RangeError || unwinds) return exhausted('stack', limits)
  if (error instanceof GuestFault) return failed('trapped', error.message)
  const trap = trapOf(error)
  if (trap !== undefined) {
    if (meter.memoryRefused) return exhausted('memory', limits)
    return failed('trapped', `The guest trapped: ${clipText(trap.message.replace(/\.$/, ''), 200)}.`)
  }
  if (CaissonError.is(error, 'diverged')) return failed(error.code, error.message)
  // What the host's own code threw is the host's: nothing of it is shown.
  return failed(
    CaissonError.is(error) ? error.code : 'capability_failed',
    'An import of the component failed; component.fault has what it threw, or gave.',
  )
}

function failed(code: string, message: string): ComponentEnd {
  return { status: 'failed', error: { name: code === 'trapped' ? 'Trap' : 'Error', code, message } }
}

/** Why it did not start, in a sentence. */
export function startProblem(end: ComponentEnd): string {
  switch (end.status) {
    case 'exited':
      return `it exited with ${end.exitCode}.`
    case 'failed':
      return end.error.message
    case 'exhausted':
      return end.message
    case 'completed':
      return 'it has no exports.'
  }
}
