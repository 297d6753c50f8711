/** From where a run is read that may have been looked at before. */
import { digestAt } from '../../journal/journal-image.ts'
import type { RunHead } from '../../ports/run-store.ts'
import type { RunOwner } from '../run-owner.ts'
import type { KnownStanding } from './known-standings.ts'
import { type ImageParts, loadImage } from './load-image.ts'

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
