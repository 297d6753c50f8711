/**
 * Runs a machine against a gate until the guest ends: the only place that loops.
 *
 * Invariants
 * 1. At most `limits.concurrentCalls` calls are at the gate; the others wait in the order in which they were asked.
 * 2. All answers that have arrived by the time of a turn are delivered in it, in order of arrival. So a run is
 *    a function of the arrival order.
 * 3. At the end everything at work is told to stop; what arrives later is dropped.
 * 4. A guest that waits for nothing ends `failed` with code `stalled`.
 * 5. The host's event loop gets its turn at least every 30 ms of turns, also when every call is answered at once.
 */
import { CallDesk } from './call-desk.ts'
import type { Outcome } from './outcome.ts'
import { failed, Session, type SessionOptions, type Step } from './session.ts'

export interface DriveOptions extends SessionOptions {
  /**
   * Parks the guest when the call with this id has been asked for: that call, and all others that were not
   * yet at the gate, are left pending and not invoked. Counts from 1.
   */
  readonly stopAtCall?: number
}

/**
 * @returns how the guest ended. Does not dispose the machine: after `suspended` its state is still wanted.
 * @throws CaissonError when the machine refuses to run for reasons that are the host's (`busy`, `disposed`, `native_stack_low`)
 */
export async function driveMachine(options: DriveOptions): Promise<Outcome> {
  const { machine, start, gate, stopAtCall = Number.POSITIVE_INFINITY } = options
  const session = new Session(options)
  const desk = new CallDesk(gate, session.stop, start.limits.concurrentCalls, (onlyForPeople) =>
    session.time.count(onlyForPeople ? 'idle' : 'wall'),
  )

  /** What follows from a turn after which the guest waits. */
  const proceed = async (step: Step & { readonly status: 'waiting' }): Promise<Step> => {
    const asked = step.calls.at(-1)
    if (asked !== undefined && asked.id >= stopAtCall) return park()
    desk.add(step.calls)
    if (!desk.expecting) return session.finish(failed('stalled', STALLED))
    session.time.watch()
    await desk.arrival()
    return session.end === undefined
      ? session.resume(desk.takeArrived())
      : { status: 'ended', end: session.end }
  }

  const park = async (): Promise<Step> => {
    desk.close()
    session.time.watch()
    await desk.quiet()
    const arrived = desk.takeArrived()
    const answered = arrived.map(({ answer }) => answer)
    const fatal = session.endIfFatal(arrived)
    if (fatal !== undefined) return fatal
    return session.finish({ status: 'suspended', pending: [...machine.pending], answered })
  }

  let step = await session.begin()
  let breathedAt = options.clock.monotonic()
  while (step.status === 'waiting') {
    // Promises that resolve at once never let the host's timers and sockets have their turn.
    if (options.clock.monotonic() - breathedAt > BREATH_MS) {
      await new Promise((resolve) => setTimeout(resolve, 0))
      breathedAt = options.clock.monotonic()
    }
    step = await proceed(step)
  }
  return session.outcome(step.end)
}

/** Short enough that a person or a socket does not notice, long enough that the pause costs little. */
const BREATH_MS = 30

const STALLED =
  'The program waits for a promise that nothing will settle: no call is pending. Look for an await on a promise that is never resolved.'
