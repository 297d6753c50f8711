/**
 * The folder of a store: made, recognised, and noticed when it vanishes.
 *
 *     format     says that this is a store, and of which version
 *     blobs/     checkpoints
 *     runs/      a folder for each run
 *     floor-N    states of runs that were removed had numbers up to N, so new ones begin above
 */
import { mkdir, realpath } from 'node:fs/promises'
import { dirname } from 'node:path'
import { CaissonError } from '../../../src/base/errors.ts'
import { canAnchor, openAnchoredDirectory } from '../../files/node/anchored-directory.node.ts'
import { openCheckedDirectory } from '../../files/node/checked-directory.node.ts'
import { errnoOf, ifThere, storing } from './store-error.ts'
import { createFile, readWhole, removeQuietly, TEMPORARY, writeTemporary } from './store-files.node.ts'
import type { StoreFolder } from './store-folder.ts'

const FORMAT = 'format'
const FORMAT_TEXT = 'caisson store 1\n'
const RUNS = 'runs'
const BLOBS = 'blobs'
const FLOOR = /^floor-([1-9][0-9]{0,14})$/

/** Opens the folder at `path`, and makes it where it is missing. Links on the way there are followed, none inside. */
export async function openFolder(path: string): Promise<StoreFolder> {
  return storing(`opening the folder ${path}`, async () => {
    const made = await mkdir(path, { recursive: true, mode: 0o700 })
    const real = await realpath(path)
    if (made !== undefined) await syncParents(real, await realpath(dirname(made)))
    return (await canAnchor(real)) ? openAnchoredDirectory(real) : openCheckedDirectory(real)
  })
}

/** Makes the names on the way from `above` to `path` durable. */
async function syncParents(path: string, above: string): Promise<void> {
  for (let parent = dirname(path); ; parent = dirname(parent)) {
    const folder = await openCheckedDirectory(parent)
    try {
      await folder.sync()
    } finally {
      await folder.close()
    }
    if (parent === above || parent === dirname(parent)) return
  }
}

export class StoreRoot {
  readonly runs: StoreFolder
  readonly blobs: StoreFolder
  readonly #root: StoreFolder

  private constructor(root: StoreFolder, runs: StoreFolder, blobs: StoreFolder) {
    this.#root = root
    this.runs = runs
    this.blobs = blobs
  }

  /**
   * Recognises the store in `root`, or makes one where nothing is.
   * @throws CaissonError `invalid_argument` for a folder with something else in it, `unsupported` for another version
   */
  static async open(root: StoreFolder): Promise<StoreRoot> {
    const format = await readWhole(root, FORMAT, 1_000)
    if (format === undefined) {
      await make(root)
    } else if (new TextDecoder().decode(format) !== FORMAT_TEXT) {
      throw new CaissonError('unsupported', 'The folder is a store of another version.')
    }
    // Whoever made the store may not have come this far.
    await root.sync()
    const runs = await root.openDirectory(RUNS)
    try {
      return new StoreRoot(root, runs, await root.openDirectory(BLOBS))
    } catch (error) {
      await runs.close()
      throw error
    }
  }

  /**
   * Asked before "there is no such thing" is answered: it might be the store that is not there.
   * @throws CaissonError `store_failed` when it was removed or replaced
   */
  async checkThere(): Promise<void> {
    const there = await Promise.all([
      ifThere(() => this.#root.stat(FORMAT)),
      isSame(this.#root, RUNS, this.runs),
      isSame(this.#root, BLOBS, this.blobs),
    ])
    if (there.every(Boolean)) return
    throw new CaissonError(
      'store_failed',
      'The folder of the store has vanished, or is another one by now.',
      {
        details: { vanished: true },
      },
    )
  }

  /** The highest number that a state of a removed run had; 0 when none was removed. */
  async floor(): Promise<number> {
    return Math.max(0, ...floorsOf(await this.#root.list()))
  }

  /** Makes the floor `number` at least, durably. */
  async raiseFloor(number: number): Promise<void> {
    if ((await this.floor()) < number) {
      try {
        await (await createFile(this.#root, `floor-${number}`)).close()
      } catch (error) {
        if (errnoOf(error) !== 'EEXIST') throw error
      }
    }
    await this.#root.sync()
    const floors = floorsOf(await this.#root.list())
    const highest = Math.max(...floors)
    for (const floor of floors) if (floor < highest) await removeQuietly(this.#root, `floor-${floor}`)
  }

  async close(): Promise<void> {
    for (const folder of [this.runs, this.blobs, this.#root]) await folder.close()
  }
}

/** Two processes may do this at the same time; the folder counts as a store when the format has its name. */
async function make(root: StoreFolder): Promise<void> {
  const foreign = (await root.list()).filter((name) => {
    return ![FORMAT, RUNS, BLOBS].includes(name) && !name.startsWith(TEMPORARY)
  })
  if (foreign.length > 0) {
    throw new CaissonError(
      'invalid_argument',
      'The folder holds something else than a store; name an empty one.',
      {
        details: { found: foreign.slice(0, 5) },
      },
    )
  }
  for (const name of [RUNS, BLOBS]) {
    try {
      await root.makeDirectory(name)
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error
    }
  }
  // A folder that has its format has all of this.
  await root.sync()
  const temporary = await writeTemporary(root, new TextEncoder().encode(FORMAT_TEXT))
  await root.rename(temporary, FORMAT)
}

async function isSame(root: StoreFolder, name: string, held: StoreFolder): Promise<boolean> {
  const [now, then] = await Promise.all([ifThere(() => root.stat(name)), ifThere(() => held.stat('.'))])
  return now !== undefined && then !== undefined && now.dev === then.dev && now.ino === then.ino
}

function floorsOf(names: readonly string[]): readonly number[] {
  return names.flatMap((name) => {
    const [, digits] = FLOOR.exec(name) ?? []
    return digits === undefined ? [] : [Number(digits)]
  })
}
