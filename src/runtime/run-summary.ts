/** What lists of runs show: written beside the head for people, and believed by nobody. */
import { CaissonError } from '../base/errors.ts'
import type { PendingCall } from '../capability/call.ts'
import { toTaggedJson } from '../values/tagged-json.ts'
import { isTime } from './sound-clock.ts'
import { traceparentOf } from './span-facts.ts'

export interface RunSummary {
  /** `running` before the first checkpoint, `waiting` at a checkpoint, else how it ended. */
  readonly status: 'running' | 'waiting' | 'completed' | 'failed' | 'exhausted'
  /** Calls that were pending at the checkpoint, the first 20. */
  readonly pending?: readonly SummarizedCall[]
  /** When its next timer is due, at the checkpoint: logical time, milliseconds since the epoch. */
  readonly wakeAtMs?: number
  /** When it was written, milliseconds since the epoch. */
  readonly atMs?: number
  /** `traceparent` of the span that tells of it, for who goes on with it. */
  readonly trace?: string | undefined
}

export interface SummarizedCall {
  readonly id: number
  readonly capability: string
  /** How its arguments begin, in tagged JSON, where the run is not encrypted. At most 100 UTF-16 units. */
  readonly args?: string
}

const STATUSES: readonly unknown[] = ['running', 'waiting', 'completed', 'failed', 'exhausted']
/** Calls of one summary. */
export const MOST_SUMMARIZED = 20
/** A store takes 16 KiB. */
const MOST_BYTES = 12 * 1024
/** Larger ones would cost more to write out than they tell. */
const MOST_ARG_BYTES = 4_096
const LONGEST_ARGS = 100

export function encodeRunSummary(summary: RunSummary): Uint8Array {
  const { pending } = summary
  if (pending === undefined) return encoded(summary)
  const few = pending.slice(0, MOST_SUMMARIZED)
  const bytes = encoded({ ...summary, pending: few })
  if (bytes.length <= MOST_BYTES) return bytes
  return encoded({ ...summary, pending: few.map(({ id, capability }) => ({ id, capability })) })
}

/**
 * A call for a summary.
 * @param withArgs never where the run is encrypted: the summary is not
 */
export function summarizeCall(
  { id, capability, args, bytes }: PendingCall,
  withArgs: boolean,
): SummarizedCall {
  if (!withArgs || args === undefined || bytes > MOST_ARG_BYTES) return { id, capability }
  return { id, capability, args: JSON.stringify(toTaggedJson(args)).slice(0, LONGEST_ARGS) }
}

function encoded(summary: RunSummary): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(summary))
}

/** @throws CaissonError `corrupted` */
export function decodeRunSummary(bytes: Uint8Array): RunSummary {
  try {
    const summary = JSON.parse(new TextDecoder().decode(bytes)) as RunSummary
    const { status, pending = [], atMs = 0, wakeAtMs } = summary
    const trace = traceparentOf(summary.trace)
    const listed = pending.map(({ id, capability, args }) => ({
      id: Number(id),
      capability: String(capability),
      ...(args !== undefined && { args: String(args) }),
    }))
    if (!STATUSES.includes(status) || !isTime(atMs)) throw new TypeError('not a summary')
    const timer = typeof wakeAtMs === 'number' && { wakeAtMs }
    return { status, pending: listed, atMs, ...timer, ...(trace !== undefined && { trace }) }
  } catch (cause) {
    throw new CaissonError('corrupted', 'The summary of a run is none.', { cause })
  }
}

/** The `traceparent` in the summary of a head, whatever else it says. */
export function traceOf(summary: Uint8Array | undefined): string | undefined {
  if (summary === undefined) return undefined
  try {
    const { trace } = JSON.parse(new TextDecoder().decode(summary)) as { readonly trace?: unknown }
    return traceparentOf(trace)
  } catch {
    return undefined // nobody has to know of traces
  }
}
