/**
 * Where runs stood when they were looked at last in this runtime: whoever looks again, or takes a run after having looked,
 * reads what came since, and not everything once more.
 *
 * Invariants
 * 1. A state has one holder: it is taken out for as long as somebody reads on from it, and whoever finds none reads the store.
 * 2. It is gone on from only if the journal has the same last entry where it stood, as with an image.
 * 3. A few are kept, and none of runs that have ended: what a process has run leaves nothing behind.
 */
import { ENDED } from '../../graph/run/transitions.ts'
import type { ImagePlace } from '../../journal/journal-image.ts'
import type { RunOwner } from '../run-owner.ts'
import type { FoldedFrom } from './plan-record.ts'

const MOST_KEPT = 8

/** The newest image of a run: records that it stands for, its bytes, and those of the journal after it. */
export interface NewestImage {
  readonly records: number
  readonly imageBytes: number
  readonly bytes: number
}

/** A state to read on from. */
export interface KnownStanding extends FoldedFrom {
  readonly end: ImagePlace
  readonly image: NewestImage
}

export class KnownStandings {
  readonly #known = new Map<string, KnownStanding>()

  /** Whoever took it has it alone. */
  take(owner: RunOwner): KnownStanding | undefined {
    const key = keyOf(owner)
    const known = this.#known.get(key)
    this.#known.delete(key)
    return known
  }

  /** Nobody changes the state any more but whoever takes it. */
  put(owner: RunOwner, standing: KnownStanding): void {
    if (ENDED.has(standing.state.status ?? 'proposed')) return
    const key = keyOf(owner)
    this.#known.delete(key)
    this.#known.set(key, standing)
    const [oldest] = this.#known.keys()
    if (this.#known.size > MOST_KEPT && oldest !== undefined) this.#known.delete(oldest)
  }
}

function keyOf({ tenant, principal, run }: RunOwner): string {
  return JSON.stringify([tenant, principal, run])
}
