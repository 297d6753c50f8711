/**
 * The folders of runs that are open: a few at a time, however many runs there are.
 *
 * A folder may be removed by another process while it is open here, and be made anew. So one without any state is
 * never believed: it is opened again by its name.
 */

import { runFolderName } from './run-folder-name.ts'
import { RunLog } from './run-log.node.ts'
import { RunRegister } from './run-register.node.ts'
import { errnoOf, ifThere } from './store-error.ts'
import type { StoreFolder } from './store-folder.ts'

/** Each holds two file descriptors at most. */
const MAX_OPEN = 64

/** A run whose folder is open. */
export interface OpenRun {
  readonly run: string
  readonly folder: StoreFolder
  readonly register: RunRegister
  readonly log: RunLog
}

/** What a folder is opened for. */
export type Use = 'look' | 'make' | 'held'

export class OpenRuns {
  readonly #runs: StoreFolder
  /** Least recently used first. */
  readonly #open = new Map<string, OpenRun>()
  readonly #busy = new Map<OpenRun, number>()

  /** @param runs the folder that holds those of all runs */
  constructor(runs: StoreFolder) {
    this.#runs = runs
  }

  /**
   * Acts with the run's folder; with undefined where there is none.
   * @param why `make` makes the folder where it is missing; a run that is `held` has one, which nobody removes
   */
  async use<T>(run: string, why: Use, act: (open: OpenRun | undefined) => Promise<T>): Promise<T> {
    let open = this.#open.get(run)
    if (open !== undefined && why !== 'held' && (await open.register.read()) === undefined) {
      await this.#drop(open)
      open = undefined
    }
    open ??= await this.#openFolder(run, why === 'make')
    if (open === undefined) return act(undefined)
    this.#open.delete(run)
    this.#open.set(run, open)
    this.#busy.set(open, (this.#busy.get(open) ?? 0) + 1)
    try {
      return await act(open)
    } finally {
      const users = (this.#busy.get(open) ?? 1) - 1
      if (users === 0) this.#busy.delete(open)
      else this.#busy.set(open, users)
      await this.#shrink()
    }
  }

  /** Closes the folder of a run that is about to be removed. */
  async forget(open: OpenRun): Promise<void> {
    await this.#drop(open)
  }

  async close(): Promise<void> {
    for (const open of this.#open.values()) await this.#drop(open)
  }

  async #openFolder(run: string, make: boolean): Promise<OpenRun | undefined> {
    const name = runFolderName(run)
    let folder = await ifThere(() => this.#runs.openDirectory(name))
    // Another process may remove an empty folder before anything is in it.
    for (let attempt = 0; make && folder === undefined && attempt < 10; attempt++) {
      try {
        await this.#runs.makeDirectory(name)
      } catch (error) {
        if (errnoOf(error) !== 'EEXIST') throw error
      }
      folder = await ifThere(() => this.#runs.openDirectory(name))
    }
    return folder && { run, folder, register: new RunRegister(folder), log: new RunLog(folder) }
  }

  async #shrink(): Promise<void> {
    for (const open of this.#open.values()) {
      if (this.#open.size <= MAX_OPEN) return
      if (!this.#busy.has(open)) await this.#drop(open)
    }
  }

  async #drop(open: OpenRun): Promise<void> {
    if (this.#open.get(open.run) === open) this.#open.delete(open.run)
    await open.log.close()
    await open.folder.close()
  }
}
