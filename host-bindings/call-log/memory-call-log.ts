/**
 * A call log in the host's memory: for tests, the command line and programs whose record need not outlive the process.
 *
 * 1. Bounded: above either cap the oldest entries go, and how many is said. It never refuses a call.
 * 2. What it returns is what was recorded, in the order of recording; entries are frozen.
 */
import { CaissonError } from '../../src/base/errors.ts'
import type { CallIntent, CallLog, CallResult, SyncCallRecord } from '../../src/ports/call-log.ts'
import { approximateBytes } from '../approximate-size.ts'

/** One recorded step. */
export type CallLogEntry =
  | { readonly kind: 'intent'; readonly record: CallIntent }
  | { readonly kind: 'result'; readonly record: CallResult }
  | { readonly kind: 'sync'; readonly record: SyncCallRecord }

/** A log that can be read back. */
export interface MemoryCallLog extends CallLog {
  intent(record: CallIntent): void
  result(record: CallResult): void
  syncCalls(records: readonly SyncCallRecord[]): void
  /** A copy of what is kept, oldest first. */
  entries(): readonly CallLogEntry[]
  /** How many entries went to make room. */
  readonly dropped: number
}

export interface MemoryCallLogOptions {
  /** Default 10,000. */
  readonly maxEntries?: number
  /** Approximate bytes of all entries together. Default 64 MiB. */
  readonly maxBytes?: number
}

/**
 * An empty log. Ids are unique within a guest only: give each guest its own log where results must be told apart.
 * @throws CaissonError `invalid_argument` for a cap that is not a positive whole number
 */
export function createMemoryCallLog(options: MemoryCallLogOptions = {}): MemoryCallLog {
  const { maxEntries = 10_000, maxBytes = 64 * 1024 * 1024 } = options
  for (const cap of [maxEntries, maxBytes]) {
    if (!Number.isSafeInteger(cap) || cap < 1) {
      throw new CaissonError('invalid_argument', 'A cap of the call log is a positive whole number.')
    }
  }
  const kept: { readonly entry: CallLogEntry; readonly bytes: number }[] = []
  let keptBytes = 0
  let dropped = 0

  const add = (entry: CallLogEntry): void => {
    const bytes = approximateBytes(entry)
    kept.push({ entry: Object.freeze(entry), bytes })
    keptBytes += bytes
    while (kept.length > maxEntries || (keptBytes > maxBytes && kept.length > 0)) {
      keptBytes -= kept.shift()?.bytes ?? 0
      dropped += 1
    }
  }
  return {
    intent: (record) => add({ kind: 'intent', record }),
    result: (record) => add({ kind: 'result', record }),
    syncCalls: (records) => {
      for (const record of records) add({ kind: 'sync', record })
    },
    entries: () => kept.map(({ entry }) => entry),
    get dropped() {
      return dropped
    },
  }
}
