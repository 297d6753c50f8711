/**
 * A store as runs are kept in it: whatever it does, whoever asked it gets an answer or an error with a code.
 *
 * Invariants
 * 1. What a store throws that is no CaissonError is `store_failed`, with it as the cause.
 * 2. A store that does not answer within `PATIENCE_MS` has failed, and within `PATIENCE_AFTER_ABORT_MS` once whoever
 *    waits was told to stop. What it still does then changes nothing that it
 *    would not have changed before: writes are compared, and a lease that comes late is given back.
 * 3. What it answers has the type that it should have, or it has failed.
 */
import { CaissonError } from '../base/errors.ts'
import type { RunLease, RunStore } from '../ports/run-store.ts'
import { blobFrom, entriesFrom, flagFrom, headFrom, leaseFrom, namesFrom } from './store-answers.ts'

/** Far longer than a disk or a network takes, far shorter than a run that waits for ever. */
const PATIENCE_MS = 60_000
/** Enough for a disk that is slow, short enough for a person who pressed Ctrl-C. */
const PATIENCE_AFTER_ABORT_MS = 2_000
/** Whoever has an answer within this time needs no timer of its own: making one takes longer than a store in memory. */
const LOOK_MS = 20

export type WatchedStore = Pick<
  RunStore,
  'putBlob' | 'getBlob' | 'head' | 'setHead' | 'append' | 'entries' | 'lease'
> &
  // Not every store that keeps runs has to list them, or to remove any.
  Partial<Pick<RunStore, 'runs' | 'remove' | 'isLeased'>>

/** @param signal of whoever waits for the store */
export function watchedStore(store: WatchedStore, signal?: AbortSignal): WatchedStore {
  const patience = new Patience()
  const watch = <T>(
    operation: string,
    ask: () => Promise<T>,
    tooLate?: (answer: T) => Promise<void>,
  ): Promise<T> => answerOf(operation, ask, patience, signal, tooLate)
  return {
    putBlob: (id, bytes) => watch('putBlob', () => store.putBlob(id, bytes)),
    getBlob: (id) => watch('getBlob', async () => blobFrom(await store.getBlob(id))),
    ...(typeof store.runs === 'function' && {
      runs: () => watch('runs', async () => namesFrom(await store.runs?.())),
    }),
    ...(typeof store.remove === 'function' && {
      remove: (run: string, lease: RunLease) => watch('remove', async () => store.remove?.(run, lease)),
    }),
    ...(typeof store.isLeased === 'function' && {
      isLeased: (run: string) =>
        watch('isLeased', async () => flagFrom(await store.isLeased?.(run), 'isLeased')),
    }),
    head: (run) => watch('head', async () => headFrom(await store.head(run))),
    setHead: (run, head, lease) => watch('setHead', () => store.setHead(run, head, lease)),
    append: (run, at, entries, lease) => watch('append', () => store.append(run, at, entries, lease)),
    entries: (run, from, most) =>
      watch('entries', async () => entriesFrom(await store.entries(run, from, most), most)),
    lease: (run, ttlMs) =>
      watch(
        'lease',
        async () => leaseFrom(await store.lease(run, ttlMs)),
        (late) => giveBack(late, signal),
      ),
  }
}

/** A lease that cannot be given back runs out: that changes nothing of how the run came to rest. */
export async function giveBack(lease: RunLease, signal?: AbortSignal): Promise<void> {
  try {
    await answerOf('release', async () => lease.release(), new Patience(), signal)
  } catch {
    // Whoever comes next waits for it.
  }
}

/** A lease that cannot be prolonged runs out: that shows where it is used. */
export async function prolong(lease: RunLease, ttlMs: number): Promise<void> {
  try {
    await answerOf('renew', async () => lease.renew(ttlMs), new Patience())
  } catch {
    // Whoever acts for the run asks whether it is held.
  }
}

/** Those who began to wait lately: one timer for them all. */
class Patience {
  readonly #lately = new Set<() => void>()
  #looks = false

  /** Calls `still` after `LOOK_MS` at most, once. @returns what takes it back */
  begin(still: () => void): () => void {
    this.#lately.add(still)
    if (!this.#looks) {
      this.#looks = true
      setTimeout(() => this.#look(), LOOK_MS)
    }
    return () => this.#lately.delete(still)
  }

  #look(): void {
    this.#looks = false
    const lately = [...this.#lately]
    this.#lately.clear()
    for (const one of lately) one()
  }
}

/** @param tooLate takes an answer that nobody waits for any more */
function answerOf<T>(
  operation: string,
  ask: () => Promise<T>,
  patience: Patience,
  signal?: AbortSignal,
  tooLate?: (answer: T) => Promise<void>,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let isOver = false
    const end = (): void => {
      isOver = true
      clearTimeout(timer)
      forget()
      signal?.removeEventListener('abort', hurry)
    }
    const waitAtMost = (patienceMs: number, sinceMs = 0): void => {
      clearTimeout(timer)
      timer = setTimeout(() => {
        end()
        reject(failed(operation, `did not answer within ${patienceMs} ms`))
      }, patienceMs - sinceMs)
    }
    const hurry = (): void => {
      forget()
      waitAtMost(PATIENCE_AFTER_ABORT_MS)
    }
    const patienceMs = signal?.aborted === true ? PATIENCE_AFTER_ABORT_MS : PATIENCE_MS
    const forget = patience.begin(() => waitAtMost(patienceMs, LOOK_MS))
    signal?.addEventListener('abort', hurry, { once: true })
    const refused = (error: unknown): void => {
      if (isOver) return
      end()
      reject(CaissonError.is(error) ? error : failed(operation, 'failed', error))
    }
    try {
      Promise.resolve(ask()).then((answer) => {
        if (isOver) return void tooLate?.(answer)
        end()
        resolve(answer)
      }, refused)
    } catch (error) {
      refused(error)
    }
  })
}

function failed(operation: string, how: string, cause?: unknown): CaissonError {
  return new CaissonError('store_failed', `The store ${how} (${operation}).`, {
    cause,
    details: { operation },
  })
}
