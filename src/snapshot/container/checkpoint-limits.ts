/** Bounds on checkpoints that are written and read, checked before anything is allocated for them. */
import { CaissonError } from '../../base/errors.ts'

export interface CheckpointLimits {
  /** Bytes of a checkpoint as stored, and of all of a chain together. */
  readonly maxFileBytes: number
  /** Bytes of the guest's memory. */
  readonly maxMemoryBytes: number
  /** Bytes of what the machine has beside its memory. */
  readonly maxStateBytes: number
  /** Checkpoints that one may stand on. */
  readonly maxLinks: number
}

const MIB = 1_048_576

export const DEFAULT_CHECKPOINT_LIMITS: CheckpointLimits = {
  maxFileBytes: 256 * MIB,
  maxMemoryBytes: 256 * MIB,
  maxStateBytes: 16 * MIB,
  maxLinks: 32,
}

/** What the format can say at all. */
const HIGHEST: CheckpointLimits = {
  maxFileBytes: 2 ** 32 - 1,
  maxMemoryBytes: 2 ** 32,
  maxStateBytes: 2 ** 32 - 1,
  maxLinks: 1_000,
}

/** The limits with defaults. @throws CaissonError `invalid_limit` */
export function parseCheckpointLimits(limits?: Partial<CheckpointLimits>): CheckpointLimits {
  if (limits === undefined) return DEFAULT_CHECKPOINT_LIMITS
  const parsed = { ...DEFAULT_CHECKPOINT_LIMITS, ...withoutUndefined(limits) }
  for (const name of Object.keys(HIGHEST) as (keyof CheckpointLimits)[]) {
    const value = parsed[name]
    if (!Number.isSafeInteger(value) || value < 0 || value > HIGHEST[name]) {
      throw new CaissonError(
        'invalid_limit',
        `Limit ${name} of checkpoints is a whole number from 0 to ${HIGHEST[name]}.`,
        { details: { limit: name, min: 0, max: HIGHEST[name] } },
      )
    }
  }
  return parsed
}

function withoutUndefined(limits: Partial<CheckpointLimits>): Partial<CheckpointLimits> {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined))
}

/** @throws CaissonError `checkpoint_too_large` when `found` exceeds the limit */
export function checkLimit(limits: CheckpointLimits, limit: keyof CheckpointLimits, found: number): void {
  const max = limits[limit]
  if (found > max) {
    throw new CaissonError(
      'checkpoint_too_large',
      `The checkpoint exceeds the limit ${limit}: ${found} where at most ${max} is allowed.`,
      { details: { limit, max, found } },
    )
  }
}
