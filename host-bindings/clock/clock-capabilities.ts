/**
 * `clock.now` and `clock.sleep`: the host's wall time, and waiting for it.
 *
 * A guest's own `Date` shows logical time; these show the host's, as answers that are recorded like any other.
 */
import { CaissonError } from '../../src/base/errors.ts'
import {
  aFunction,
  checkOptions,
  type OptionChecks,
  wholeFrom,
  withMethods,
} from '../../src/base/option-checks.ts'
import type { Capability } from '../../src/capability/capability.ts'
import type { Clock } from '../../src/ports/clock.ts'
import { defineBinding, defineSyncBinding } from '../define-binding.ts'
import { object } from '../schema/composites.ts'
import { integer, nothing, number } from '../schema/scalars.ts'
import { systemClock } from '../system/system-clock.ts'

/** How a program may see and spend time. */
export interface ClockOptions {
  /** Default: the system's clock. */
  readonly clock?: Clock
  /** The longest single sleep in milliseconds, 1 to 3,600,000. Default 60,000. */
  readonly maxSleepMs?: number
  /** Waits `ms` milliseconds, or rejects when `signal` aborts. Default: a timer of the platform. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>
}

const HOUR_MS = 3_600_000
const OPTIONS: OptionChecks<ClockOptions> = {
  clock: withMethods('a clock', 'now', 'monotonic'),
  maxSleepMs: wholeFrom(1, HOUR_MS),
  wait: aFunction,
}
/** What a timer may come late before the gate calls it a timeout. */
const LATE_MS = 5_000

/**
 * The capabilities `clock.now` and `clock.sleep`.
 * @throws CaissonError `invalid_argument` for an impossible option
 */
export function createClockCapabilities(options: ClockOptions = {}): readonly Capability[] {
  checkOptions(options, OPTIONS)
  const { clock = systemClock, maxSleepMs = 60_000, wait = waitForTimer } = options
  return [
    defineSyncBinding({
      name: 'clock.now',
      description:
        "The host's wall-clock time in milliseconds since 1970-01-01 UTC: `new Date(clock.now())` is now.",
      sync: true,
      effect: 'read',
      input: object({}),
      output: number({ description: 'Milliseconds since the Unix epoch.' }),
      invoke: () => clock.now(),
    }),
    defineBinding({
      name: 'clock.sleep',
      description: `Waits: \`await clock.sleep({ ms: 500 })\` goes on half a second later. At most ${maxSleepMs} ms a call.`,
      effect: 'read',
      timeoutMs: maxSleepMs + LATE_MS,
      input: object({
        ms: integer({ minimum: 0, maximum: maxSleepMs, description: 'Milliseconds to wait.' }),
      }),
      output: nothing,
      expose: ['aborted'],
      invoke: async ({ ms }, { signal }) => {
        await wait(ms, signal)
        return null
      },
    }),
  ]
}

/** Resolves after `ms` milliseconds; rejects with `aborted` and leaves no timer behind when `signal` aborts. */
function waitForTimer(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer)
      reject(new CaissonError('aborted', 'The sleep was aborted.', { cause: signal.reason }))
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort)
      resolve()
    }, ms)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
}
