/**
 * What a guest may use up. Every limit is finite: nothing is unlimited by default or by mistake.
 *
 * Reaching one ends the guest as `exhausted` with the name of the limit. The guest cannot catch that.
 */
import { CaissonError } from '../base/errors.ts'

export interface Limits {
  /** Exact count of executed wasm work, over all turns. About 2 to 35 million units per millisecond. */
  readonly fuel: number
  /** Size of the guest's linear memory in bytes, engine included (about 0.7 MB). Rounded down to 64 KiB pages. */
  readonly memoryBytes: number
  /**
   * Depth of the guest's call stack in metered bytes, an upper estimate of about two to five times the native bytes:
   * a call in the guest's source takes 1 to 6 KiB. The same program ends at the same depth everywhere.
   */
  readonly stackBytes: number
  /** Active wall time in milliseconds: the guest computes or a capability works for it. */
  readonly wallMs: number
  /** Time in milliseconds during which the guest only waits: for a person (an approval), or for its own timers. */
  readonly idleMs: number
  /** Number of capability calls, sync and awaited. */
  readonly calls: number
  /** Awaited calls in flight at once; more wait in line. */
  readonly concurrentCalls: number
  /** How often timers are armed: one that is set counts, and so does each repetition of an interval. */
  readonly timers: number
  /** Bytes of arguments and of the result that leave the guest. */
  readonly bytesOut: number
  /** Bytes of program, input and answers that enter the guest. */
  readonly bytesIn: number
  /** Bytes of console output kept. More is counted and dropped; it does not end the guest. */
  readonly logBytes: number
}

/** Which limit ended a guest. */
export type LimitName = 'fuel' | 'memory' | 'stack' | 'wall' | 'idle' | 'calls' | 'bytes' | 'timers'

const KiB = 1024
const MiB = 1024 * KiB

/** Enough for a program that a model writes in one go; far too little to hurt anybody. */
export const DEFAULT_LIMITS: Limits = {
  fuel: 2_000_000_000,
  memoryBytes: 64 * MiB,
  stackBytes: 768 * KiB,
  wallMs: 30_000,
  idleMs: 3_600_000,
  calls: 1_000,
  concurrentCalls: 16,
  timers: 10_000,
  bytesOut: 16 * MiB,
  bytesIn: 16 * MiB,
  logBytes: 256 * KiB,
}

/** The unit shown in messages, and the plausible range of each limit (inclusive). */
const RANGES: Readonly<Record<keyof Limits, readonly [unit: string, min: number, max: number]>> = {
  fuel: ['fuel units', 1, 2 ** 52],
  memoryBytes: ['bytes', MiB, 2 ** 31],
  stackBytes: ['metered bytes', 192 * KiB, 1 * MiB],
  wallMs: ['milliseconds', 1, 7 * 86_400_000],
  idleMs: ['milliseconds', 1, 365 * 86_400_000],
  calls: ['calls', 0, 2 ** 31],
  concurrentCalls: ['calls', 1, 10_000],
  timers: ['timers', 0, 2 ** 31],
  bytesOut: ['bytes', 0, 2 ** 31],
  bytesIn: ['bytes', 1, 2 ** 31],
  logBytes: ['bytes', 0, 2 ** 31],
}

/** The largest value that a limit can have, in its unit. */
export function largestLimit(name: keyof Limits): number {
  return RANGES[name][2]
}

/**
 * Fills in defaults and refuses what cannot be meant.
 * @throws CaissonError `invalid_limit` with `details: { limit, value, min, max, unit }`
 */
export function parseLimits(given: Partial<Limits> = {}, defaults: Limits = DEFAULT_LIMITS): Limits {
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(RANGES, name)) {
      throw new CaissonError(
        'invalid_limit',
        `There is no limit "${name.slice(0, 80)}". Limits: ${Object.keys(RANGES).join(', ')}.`,
        {
          details: { limit: name.slice(0, 80) },
        },
      )
    }
  }
  const limits: Record<string, number> = {}
  for (const [name, [unit, min, max]] of Object.entries(RANGES)) {
    const value: unknown = given[name as keyof Limits] ?? defaults[name as keyof Limits]
    if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
      throw new CaissonError(
        'invalid_limit',
        `Limit ${name} is ${String(value).slice(0, 40)}; it takes a whole number of ${unit} from ${min} to ${max}.`,
        { details: { limit: name, value, min, max, unit } },
      )
    }
    limits[name] = value
  }
  return limits as unknown as Limits
}
