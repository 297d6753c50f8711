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
import { digestAt } from '../../journal/journal-image.ts'
import type { RunHead } from '../../ports/run-store.ts'
import type { RunOwner } from '../run-owner.ts'
import { type ImageParts, loadImage, type StandingImage } from './load-image.ts'
import type { FoldedFrom } from './plan-record.ts'
import type { RunImagesParts } from './run-images.ts'

const MOST_KEPT = 8

/** A state to read on from. */
export interface KnownStanding extends FoldedFrom, Pick<StandingImage, 'end'> {
  /** The newest image, and the bytes of the journal after it. */
  readonly image: RunImagesParts['from']
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

/**
 * From where a run is read: where it was left here, or its newest image.
 * @returns undefined where its journal is read from the beginning
 * @throws CaissonError as `loadImage`
 */
export async function placeToReadFrom(
  parts: ImageParts,
  owner: RunOwner,
  head: RunHead | undefined,
): Promise<KnownStanding | undefined> {
  const known = parts.standings?.take(owner)
  if (known !== undefined && (await digestAt(parts.store, owner.run, known.end.length)) === known.end.digest)
    return known
  const image = await loadImage(parts, owner, head)
  if (image === undefined) return undefined
  const { plan, state, end, bytes } = image
  return { plan, state, end, image: { records: end.length, imageBytes: bytes, bytes: 0 } }
}

function keyOf({ tenant, principal, run }: RunOwner): string {
  return JSON.stringify([tenant, principal, run])
}
