/**
 * What removing runs would make room for: checkpoints, plans and values that nothing that stays stands on.
 *
 * Invariant: what several runs stand on is counted once, and not at all while one of them stays.
 */
import type { Digest } from '../../base/digest.ts'
import type { RunStore } from '../../ports/run-store.ts'

/** @param going names of runs that would go, of their parts too */
export async function blobsToGo(
  store: RunStore,
  going: ReadonlySet<string>,
): Promise<{ readonly checkpoints: number; readonly bytes: number }> {
  if (going.size === 0) return { checkpoints: 0, bytes: 0 }
  const goes = new Set<Digest>()
  const stays = new Set<Digest>()
  for (const run of await store.runs()) {
    const { chain = [] } = (await store.head(run)) ?? {}
    for (const id of chain) (going.has(run) ? goes : stays).add(id)
  }
  let checkpoints = 0
  let bytes = 0
  for (const id of goes) {
    const blob = stays.has(id) ? undefined : await store.getBlob(id)
    if (blob === undefined) continue
    checkpoints += 1
    bytes += blob.length
  }
  return { checkpoints, bytes }
}
