/** What lists of runs show: written beside the head for people, and believed by nobody. */
import { CaissonError } from '../base/errors.ts'

export interface RunSummary {
  /** `running` before the first checkpoint, `waiting` at a checkpoint, else how it ended. */
  readonly status: 'running' | 'waiting' | 'completed' | 'failed' | 'exhausted'
  /** Calls that were pending at the checkpoint, the first 20. */
  readonly pending?: readonly { readonly id: number; readonly capability: string }[]
  /** When it was written, milliseconds since the epoch. */
  readonly atMs?: number
}

const STATUSES: readonly unknown[] = ['running', 'waiting', 'completed', 'failed', 'exhausted']
const MOST_PENDING = 20

export function encodeRunSummary(summary: RunSummary): Uint8Array {
  const { pending } = summary
  const short = pending === undefined ? summary : { ...summary, pending: pending.slice(0, MOST_PENDING) }
  return new TextEncoder().encode(JSON.stringify(short))
}

/** @throws CaissonError `corrupted` */
export function decodeRunSummary(bytes: Uint8Array): RunSummary {
  try {
    const summary = JSON.parse(new TextDecoder().decode(bytes)) as RunSummary
    const { status, pending = [], atMs = 0 } = summary
    const listed = pending.map(({ id, capability }) => ({ id: Number(id), capability: String(capability) }))
    if (!STATUSES.includes(status) || typeof atMs !== 'number') throw new TypeError('not a summary')
    return { status, pending: listed, atMs }
  } catch (cause) {
    throw new CaissonError('corrupted', 'The summary of a run is none.', { cause })
  }
}
