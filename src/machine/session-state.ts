/**
 * The books of a session as plain data: what a guest used up and said so far, for snapshots.
 *
 * Where the host keeps a record of a run, that record decides over calls and budgets. This is what goes on where
 * nothing else knows: time, usage and console lines.
 */
import { CaissonError } from '../base/errors.ts'
import { isGuestError } from './guest-error.ts'
import type { GuestError, LogEntry, Usage } from './turn.ts'

export interface SessionState {
  /** Logical time of the last turn, milliseconds since the epoch. */
  readonly nowMs: number
  readonly usage: Usage
  /** Calls asked so far. */
  readonly asked: number
  readonly lastId: number
  readonly bytesIn: number
  readonly bytesOut: number
  /** Active and idle milliseconds used. */
  readonly wallMs: number
  readonly idleMs: number
  readonly logs: readonly LogEntry[]
  readonly logsDropped: number
  readonly unhandledRejections: readonly GuestError[]
}

const LEVELS: ReadonlySet<unknown> = new Set(['debug', 'log', 'info', 'warn', 'error'])
const NUMBERS = [
  'nowMs',
  'asked',
  'lastId',
  'bytesIn',
  'bytesOut',
  'wallMs',
  'idleMs',
  'logsDropped',
] as const
const USAGE = ['fuel', 'memoryBytes', 'calls', 'bytesIn', 'bytesOut', 'logsDropped'] as const

/** @throws CaissonError `corrupted` */
export function parseSessionState(value: unknown): SessionState {
  const state = record(value)
  const usage = record(state.usage)
  if (NUMBERS.some((name) => !isAmount(state[name])) || USAGE.some((name) => !isAmount(usage[name]))) refuse()
  for (const entry of list(state.logs)) {
    const { level, text, atMs } = record(entry)
    if (!LEVELS.has(level) || typeof text !== 'string' || !isAmount(atMs)) refuse()
  }
  if (!list(state.unhandledRejections).every(isGuestError)) refuse()
  return state as unknown as SessionState
}

function isAmount(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return refuse()
  return value as Record<string, unknown>
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : refuse()
}

function refuse(): never {
  throw new CaissonError('corrupted', "The books of a captured guest's session contradict themselves.")
}
