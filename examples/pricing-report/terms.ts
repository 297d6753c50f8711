/** What the program may use, whatever process or page it is in. */
import type { GrantRule, Limits } from '../../src/entry/exports.ts'

/** Name of the run in its store. */
export const RUN = 'pricing-report'

/** A checkpoint is taken after so many answers. */
export const CHECKPOINT_EVERY = 4

export const GRANTS: readonly (GrantRule & { readonly capability: string; readonly calls: number })[] = [
  { capability: 'sql.query', calls: 10 },
  { capability: 'net.fetch', calls: 30, rate: { calls: 20, perMs: 1_000 } },
  { capability: 'clock.sleep', calls: 5 },
  { capability: 'artifacts.write', calls: 1 },
]

export const LIMITS: Pick<Limits, 'fuel' | 'memoryBytes' | 'wallMs' | 'calls'> = {
  fuel: 5_000_000_000,
  memoryBytes: 32 * 1024 * 1024,
  wallMs: 60_000,
  calls: 50,
}
