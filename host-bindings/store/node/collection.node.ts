/**
 * Removes checkpoints that no head needs, while others put checkpoints and set heads.
 *
 * 1. What no head names is set aside, where `BlobFolder.keep` still finds it and puts it back.
 * 2. Then every run that is held gets a new number for its state: whoever looked for a checkpoint before 1 and sets its
 *    head after this has to look again.
 * 3. Then all heads are read, and of what was set aside before that, what they do not name is removed.
 *
 * A head that is set before 3 is read there; one that is set later was looked for after 1.
 */
import type { Digest } from '../../../src/base/digest.ts'
import type { Collected } from '../../../src/ports/run-store.ts'
import type { BlobFolder } from './blob-folder.node.ts'
import { cleanRun } from './clean-run.node.ts'
import type { RunFolders } from './run-folders.node.ts'
import type { StoreRoot } from './store-root.node.ts'

/** Changes nothing, so that it needs nobody to look again. @returns what `collect` would remove now */
export async function wouldCollect(
  blobs: BlobFolder,
  folders: RunFolders,
  graceMs: number,
): Promise<Collected> {
  return blobs.unneeded(await neededBy(folders, false), graceMs)
}

/** @returns which checkpoints are gone. What dead processes left in the folders of runs goes too. */
export async function collect(
  root: StoreRoot,
  blobs: BlobFolder,
  folders: RunFolders,
  graceMs: number,
): Promise<Collected> {
  const aside = await blobs.setAside(await neededBy(folders, false), graceMs)
  const needed = aside.length > 0 ? await neededBy(folders, true) : new Set<Digest>()
  const removed = await blobs.removeAside(aside, needed, graceMs)
  await folders.each((open) => cleanRun(root, folders, open))
  return removed
}

/** What the heads of all runs name. */
async function neededBy(folders: RunFolders, touch: boolean): Promise<ReadonlySet<Digest>> {
  const needed = new Set<Digest>()
  await folders.each(async (open, current) => {
    let state: typeof current.state | undefined = current.state
    // A run that nobody holds now is taken before its head is set, and looked at after that.
    if (touch && current.state.lease !== undefined) {
      await open.register.touch(current.number)
      state = (await open.register.read())?.state
    }
    for (const id of state?.head?.chain ?? []) needed.add(id)
  })
  return needed
}
