/**
 * Runs a machine against a gate until the guest ends: the only place that loops.
 *
 * Invariants
 * 1. At most `limits.concurrentCalls` calls are at the gate; the others wait in the order in which they were asked.
 * 2. All answers that have arrived by the time of a turn are delivered in it, in order of arrival. So a run is
 *    a function of the arrival order.
 * 3. At the end everything at work is told to stop; what arrives later is dropped.
 * 4. A guest that waits for nothing, no call and no timer, ends `failed` with code `stalled`.
 * 5. A call in doubt is never made again by itself: a guest that waits for nothing else is suspended.
 * 6. A call that a person has to decide over is left where it is: a guest that waits for nothing else, or for a timer that
 *    is far off, is suspended.
 * 7. A timer that is due is fired with the answers that are there by then, after them.
 * 8. The host's event loop gets its turn at least every 30 ms of turns, also when every call is answered at once.
 */
import type { Delivery } from '../capability/delivery.ts'
import type { RecordedCall } from '../capability/gate.ts'
import { type Asleep, answerOrTimer } from './answer-or-timer.ts'
import { CallDesk } from './call-desk.ts'
import type { Outcome, RunEnd } from './outcome.ts'
import { failed, Session, type SessionOptions, type Step } from './session.ts'
import type { PendingCall } from './turn.ts'

export interface DriveOptions extends SessionOptions {
  /**
   * Parks the guest when the call with this id has been asked for: that call, and all others that were not
   * yet at the gate, are left pending and not invoked. Counts from 1.
   */
  readonly stopAtCall?: number | undefined
  /** Parks the guest when its value is there, and calls or timers are still pending. */
  readonly suspendAtEnd?: boolean | undefined
  /** Others may have the guest's place while it sleeps. */
  readonly asleep?: Asleep | undefined
  /** What the host knows of the calls that a restored guest waits for. */
  readonly known?: KnownCalls | undefined
  /**
   * Called while the guest waits, before calls that it asked for reach the gate; `stopping` before it is parked for
   * good. What it throws goes to who drives.
   */
  readonly atRest?: ((stopping: boolean) => void | Promise<void>) | undefined
}

/** Of calls that were asked before a guest was restored, by the host's own record. */
export interface KnownCalls {
  /** Answers that were recorded and not delivered, in order of arrival. */
  readonly answers: readonly Delivery[]
  /** Calls that were counted and issued, and have no recorded answer: if made again, they are not counted again. */
  readonly recorded: ReadonlyMap<number, RecordedCall>
  /** Calls that may have taken effect and must not be made again unless somebody says so. */
  readonly inDoubt: ReadonlySet<number>
}

/**
 * @returns how the guest ended. Does not dispose the machine: after `suspended` its state is still wanted.
 * @throws CaissonError when the machine refuses to run for reasons that are the host's (`busy`, `disposed`, `native_stack_low`)
 */
export async function driveMachine(options: DriveOptions): Promise<Outcome> {
  const session = new Session(options)
  const end = await driveSession(
    session,
    options.restored === undefined ? await session.begin() : session.goOn(),
    options,
  )
  return session.outcome(end)
}

/** Drives a session on from `first` to its end. */
export async function driveSession(session: Session, first: Step, options: DriveOptions): Promise<RunEnd> {
  const {
    machine,
    start,
    gate,
    stopAtCall = Number.POSITIVE_INFINITY,
    suspendAtEnd = false,
    known = NOTHING_KNOWN,
    atRest,
  } = options
  const desk = new CallDesk(
    gate,
    session.stop,
    start.limits.concurrentCalls,
    (onlyForPeople) => session.time.count(onlyForPeople ? 'idle' : 'wall'),
    known.recorded,
  )
  desk.addArrived(known.answers)
  const answered = new Set(known.answers.map(({ answer }) => answer.id))
  const isOpen = ({ id }: PendingCall): boolean => !known.inDoubt.has(id) && !answered.has(id)

  /** What follows from a turn after which the guest waits. */
  const proceed = async (step: Step & { readonly status: 'waiting' }): Promise<Step> => {
    const asked = step.calls.at(-1)
    const stopping = (asked !== undefined && asked.id >= stopAtCall) || (suspendAtEnd && step.ready === true)
    if (atRest !== undefined) {
      await atRest(stopping)
      if (session.end !== undefined) return { status: 'ended', end: session.end }
    }
    if (stopping) return park()
    desk.add(known === NOTHING_KNOWN ? step.calls : step.calls.filter(isOpen))
    const { wakeAtMs } = machine
    if (isForPeople(wakeAtMs)) return park()
    if (!desk.expecting && wakeAtMs === undefined) {
      return known.inDoubt.size > 0 && machine.pending.some(({ id }) => known.inDoubt.has(id))
        ? park()
        : session.finish(failed('stalled', STALLED))
    }
    const due = await answerOrTimer(session, desk, wakeAtMs, options.asleep)
    if (session.end === undefined && !due && isForPeople(wakeAtMs)) return park()
    return session.end === undefined
      ? session.resume(desk.takeArrived(), due ? wakeAtMs : undefined)
      : { status: 'ended', end: session.end }
  }

  /** Whether nothing but people is waited for, and perhaps a timer that is far off. */
  const isForPeople = (wakeAtMs: number | undefined): boolean =>
    desk.asked.size > 0 && !desk.expecting && (wakeAtMs === undefined || session.msUntil(wakeAtMs) > SOON_MS)

  const park = async (): Promise<Step> => {
    desk.close()
    session.time.watch()
    await desk.quiet()
    const arrived = desk.takeArrived()
    const fatal = session.endIfFatal(arrived)
    if (fatal !== undefined) return fatal
    const pending = machine.pending.map((call) => {
      const approval = desk.asked.get(call.id)
      return approval === undefined ? call : { ...call, approval }
    })
    const { wakeAtMs } = machine
    return session.finish({
      status: 'suspended',
      pending,
      answered: arrived.map(({ answer }) => answer),
      inDoubt: pending.map(({ id }) => id).filter((id) => known.inDoubt.has(id)),
      ...(wakeAtMs !== undefined && { wakeAtMs }),
    })
  }

  let step = first
  let breathedAt = options.clock.monotonic()
  while (step.status === 'waiting') {
    // Promises that resolve at once never let the host's timers and sockets have their turn.
    if (options.clock.monotonic() - breathedAt > BREATH_MS) {
      await new Promise((resolve) => setTimeout(resolve, 0))
      breathedAt = options.clock.monotonic()
    }
    step = await proceed(step)
  }
  return step.end
}

export const NOTHING_KNOWN: KnownCalls = { answers: [], recorded: new Map(), inDoubt: new Set() }

/** Short enough that a person or a socket does not notice, long enough that the pause costs little. */
const BREATH_MS = 30

/** A timer that is due so soon is waited for also by a guest that waits for people, milliseconds. */
const SOON_MS = 1_000

const STALLED =
  'The program waits for a promise that nothing will settle: no call is pending, and no timer is set. Look for an await on a promise that is never resolved.'
