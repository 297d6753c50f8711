/**
 * A store as runs are kept in it: whatever it does, whoever asked it gets an answer or an error with a code.
 *
 * Invariants
 * 1. What a store throws that is no CaissonError is `store_failed`, with it as the cause.
 * 2. A store that does not answer within `PATIENCE_MS` has failed. What it still does then changes nothing that it
 *    would not have changed before: writes are compared, and a lease that comes late is given back.
 */
import { CaissonError } from '../base/errors.ts'
import type { RunLease, RunStore } from '../ports/run-store.ts'

/** Far longer than a disk or a network takes, far shorter than a run that waits for ever. */
const PATIENCE_MS = 60_000

export type WatchedStore = Pick<
  RunStore,
  'putBlob' | 'getBlob' | 'head' | 'setHead' | 'append' | 'entries' | 'lease'
>

export function watchedStore(store: WatchedStore): WatchedStore {
  return {
    putBlob: (id, bytes) => answerOf('putBlob', () => store.putBlob(id, bytes)),
    getBlob: (id) => answerOf('getBlob', () => store.getBlob(id)),
    head: (run) => answerOf('head', () => store.head(run)),
    setHead: (run, head, lease) => answerOf('setHead', () => store.setHead(run, head, lease)),
    append: (run, at, entries, lease) => answerOf('append', () => store.append(run, at, entries, lease)),
    entries: (run, from, most) => answerOf('entries', () => store.entries(run, from, most)),
    lease: (run, ttlMs) => answerOf('lease', () => store.lease(run, ttlMs), giveBack),
  }
}

/** A lease that cannot be given back runs out: that changes nothing of how the run came to rest. */
export async function giveBack(lease: RunLease): Promise<void> {
  try {
    await answerOf('release', () => lease.release())
  } catch {
    // Whoever comes next waits for it.
  }
}

/** @param tooLate takes an answer that nobody waits for any more */
async function answerOf<T>(
  operation: string,
  ask: () => Promise<T>,
  tooLate?: (answer: T) => Promise<void>,
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  let givenUp = false
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      givenUp = true
      reject(failed(operation, `did not answer within ${PATIENCE_MS} ms`))
    }, PATIENCE_MS)
  })
  try {
    const asking = ask()
    if (tooLate !== undefined) {
      asking.then(
        (answer) => (givenUp ? tooLate(answer) : undefined),
        () => {}, // the one who waits hears of it
      )
    }
    return await Promise.race([asking, silence])
  } catch (error) {
    throw CaissonError.is(error) ? error : failed(operation, 'failed', error)
  } finally {
    clearTimeout(timer)
  }
}

function failed(operation: string, how: string, cause?: unknown): CaissonError {
  return new CaissonError('store_failed', `The store ${how} (${operation}).`, {
    cause,
    details: { operation },
  })
}
