/** The runs of a store: what happens to one happens one after the other; many are gone through side by side. */
import { type OpenRun, OpenRuns, type Use } from './open-runs.node.ts'
import { runOfFolder } from './run-folder-name.ts'
import { RunQueue } from './run-queue.ts'
import type { NumberedState } from './run-register.node.ts'
import type { StoreRoot } from './store-root.node.ts'

/** Runs that are looked at side by side where all are. */
const SIDE_BY_SIDE = 8

export class RunFolders {
  readonly #root: StoreRoot
  readonly #open: OpenRuns
  readonly #queue = new RunQueue()

  constructor(root: StoreRoot) {
    this.#root = root
    this.#open = new OpenRuns(root.runs)
  }

  /** Acts with the folder of a run, or with undefined where there is none, when nobody else here does. */
  use<T>(run: string, why: Use, act: (open: OpenRun | undefined) => Promise<T>): Promise<T> {
    return this.#queue.run(run, () => this.#open.use(run, why, act))
  }

  /** Acts on a run that has a state. Undefined where it has none, and the store is still there. */
  look<T>(run: string, act: (open: OpenRun, current: NumberedState) => Promise<T>): Promise<T | undefined> {
    return this.use(run, 'look', async (open) => {
      const current = await open?.register.read()
      if (open !== undefined && current !== undefined) return act(open, current)
      await this.#root.checkThere()
      return undefined
    })
  }

  /** Acts on every run that has a state. After a failure no more are begun. */
  async each<T>(
    act: (open: OpenRun, current: NumberedState) => Promise<T>,
  ): Promise<readonly (readonly [run: string, T])[]> {
    const folders = await this.#root.runs.list()
    const runs = folders.flatMap((folder) => runOfFolder(folder) ?? [])
    if (runs.length === 0) await this.#root.checkThere()
    const results: (readonly [string, T])[] = []
    const failures: unknown[] = []
    const work = async (): Promise<void> => {
      for (let run = runs.pop(); run !== undefined && failures.length === 0; run = runs.pop()) {
        const name = run
        await this.look(name, async (open, current) => {
          results.push([name, await act(open, current)])
        }).catch((error: unknown) => failures.push(error))
      }
    }
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work))
    if (failures.length > 0) throw failures[0]
    return results
  }

  /** Closes the folder of a run that is about to be removed. */
  forget(open: OpenRun): Promise<void> {
    return this.#open.forget(open)
  }

  close(): Promise<void> {
    return this.#open.close()
  }
}
