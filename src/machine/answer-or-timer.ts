/**
 * Between two turns: waits for an answer, or for the time at which the guest wants to be woken, whichever is first.
 *
 * Invariants
 * 1. While nothing but a timer or a person is waited for, the time is idle time, and bounded as such.
 * 2. A due time that is past is due at once. One ahead is waited for in real time: by the clock where it moves, and
 *    by the length of the wait where it stands still.
 */
import type { Stop } from '../capability/stop.ts'
import type { CallDesk } from './call-desk.ts'
import type { Session } from './session.ts'

/** Goes around a wait for nothing but a timer, until the guest may go on or has been stopped. */
export type Asleep = (sleep: () => Promise<void>, stop: Stop) => Promise<void>

/** The longest wait before the clock is looked at again: while a computer sleeps, its timers do too. */
const LONGEST_WAIT_MS = 10_000

/** @returns whether the timer at `wakeAtMs` is due; otherwise an answer is there, or the run has ended */
export async function answerOrTimer(
  session: Session,
  desk: CallDesk,
  wakeAtMs: number | undefined,
  asleep: Asleep | undefined,
): Promise<boolean> {
  const leftMs = wakeAtMs === undefined ? Number.POSITIVE_INFINITY : session.msUntil(wakeAtMs)
  if (leftMs <= 0) return true
  session.time.count(desk.working ? 'wall' : 'idle')
  session.time.watch()
  if (wakeAtMs === undefined) {
    await desk.arrival()
    return false
  }
  if (!desk.busy) session.tellSleep(leftMs)
  let due = false
  const wait = async (): Promise<void> => {
    due = await isDueFirst(() => session.msUntil(wakeAtMs), desk.arrival())
  }
  await (desk.busy || asleep === undefined ? wait() : asleep(wait, session.stop))
  return due
}

async function isDueFirst(msUntilDue: () => number, answer: Promise<void>): Promise<boolean> {
  let leftMs = msUntilDue()
  while (leftMs > 0) {
    const waitMs = Math.min(leftMs, LONGEST_WAIT_MS)
    if (await settlesWithin(waitMs, answer)) return false
    leftMs = Math.min(leftMs - waitMs, msUntilDue())
  }
  return true
}

/** Whether `promise` settles before `ms` milliseconds are over. */
async function settlesWithin(ms: number, promise: Promise<void>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const elapsed = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), Math.ceil(ms))
  })
  try {
    return await Promise.race([promise.then(() => true), elapsed])
  } finally {
    clearTimeout(timer)
  }
}
