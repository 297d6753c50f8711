/**
 * Removes what a run leaves behind: its files when it was removed, and those of processes that died.
 *
 * Only of a run that nobody holds. What is removed was listed before its state was read, so nothing is taken that
 * somebody made after taking the run.
 */
import type { OpenRun } from './open-runs.node.ts'
import { runFolderName } from './run-folder-name.ts'
import type { RunFolders } from './run-folders.node.ts'
import { ifThere } from './store-error.ts'
import { removeQuietly } from './store-files.node.ts'
import type { StoreRoot } from './store-root.node.ts'

export async function cleanRun(root: StoreRoot, folders: RunFolders, open: OpenRun): Promise<void> {
  const names = await open.folder.list()
  const current = await open.register.read()
  if (current === undefined || current.state.lease !== undefined) return
  const { number, state } = current
  if (!state.removed && (state.head !== undefined || state.log.length > 0)) {
    const needed = new Set(state.log.map(({ id }) => `log-${id}`))
    for (const name of names) {
      if (!name.startsWith('state-') && !needed.has(name)) await removeQuietly(open.folder, name)
    }
    return
  }
  // The next run of this name begins above, so that nobody who remembers this one can write to that one.
  await root.raiseFloor(number)
  const last = `state-${number}`
  // An older state must not outlive the one that says that the run is gone.
  for (const name of names) if (name !== last) await ifThere(() => open.folder.removeFile(name))
  await open.folder.sync()
  await removeQuietly(open.folder, last)
  await folders.forget(open)
  // Fails where somebody begins the run anew at this moment; then it is not empty.
  await root.runs.removeDirectory(runFolderName(open.run)).catch(() => {})
}
