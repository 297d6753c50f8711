/**
 * Checkpoints, each a file named by the digits of its digest.
 *
 * 1. A checkpoint has its name only when all of it is durable, and is acknowledged when the name is.
 * 2. What a collection wants to remove is first set aside under another name, where whoever needs it still finds it
 *    and puts it back; only what was set aside before all heads were read is removed after they were.
 * 3. Putting a checkpoint again makes it young again.
 */
import type { Digest } from '../../../src/base/digest.ts'
import type { Collected } from '../../../src/ports/run-store.ts'
import { MAX_BLOB_BYTES } from '../check-arguments.ts'
import { ifThere } from './store-error.ts'
import { openToWrite, readWhole, removeQuietly, TEMPORARY, writeTemporary } from './store-files.node.ts'
import type { StoreFolder } from './store-folder.ts'

const PREFIX = 'sha256:'
const ASIDE = 'aside-'
const BLOB = /^[0-9a-f]{64}$/
const SET_ASIDE = /^aside-[0-9a-f]{64}$/
/** Unfinished files are younger than this, unless who wrote them is dead. */
const UNFINISHED_MS = 60_000

export class BlobFolder {
  readonly #folder: StoreFolder

  constructor(folder: StoreFolder) {
    this.#folder = folder
  }

  async put(id: Digest, bytes: Uint8Array): Promise<void> {
    const name = nameOf(id)
    if (!(await this.#refresh(name, bytes.byteLength))) {
      const temporary = await writeTemporary(this.#folder, bytes)
      try {
        await this.#folder.rename(temporary, name)
      } catch (error) {
        await removeQuietly(this.#folder, temporary)
        throw error
      }
    }
    // Also when it was there: whoever put it may not have come this far.
    await this.#folder.sync()
  }

  /** The bytes; undefined when they are not there. */
  async get(id: Digest): Promise<Uint8Array | undefined> {
    const name = nameOf(id)
    for (const place of [name, ASIDE + name, name]) {
      const bytes = await readWhole(this.#folder, place, MAX_BLOB_BYTES)
      if (bytes !== undefined) return bytes
    }
    return undefined
  }

  /** Whether it is there, where no collection that has begun takes it without looking at the heads again. */
  async keep(id: Digest): Promise<boolean> {
    const name = nameOf(id)
    if (await this.#has(name)) return true
    const back = await ifThere(async () => {
      await this.#folder.rename(ASIDE + name, name)
      await this.#folder.sync()
      return true
    })
    return back ?? (await this.#has(name))
  }

  /**
   * The first half of a collection: sets aside what is not needed and older than `graceMs`.
   * @returns names of everything that is set aside now
   */
  async setAside(needed: ReadonlySet<Digest>, graceMs: number): Promise<readonly string[]> {
    const names = namesOf(needed)
    for (const name of await this.#folder.list()) {
      if (name.startsWith(TEMPORARY) && (await this.#isOlder(name, Math.max(graceMs, UNFINISHED_MS)))) {
        await removeQuietly(this.#folder, name)
      }
      if (!BLOB.test(name) || names.has(name) || !(await this.#isOlder(name, graceMs))) continue
      await ifThere(() => this.#folder.rename(name, ASIDE + name))
    }
    return (await this.#folder.list()).filter((name) => SET_ASIDE.test(name))
  }

  /**
   * The second half: removes what was set aside, but for what is needed or was put again meanwhile.
   * @param needed by heads as they were after `setAside`
   * @returns what is gone
   */
  async removeAside(
    aside: readonly string[],
    needed: ReadonlySet<Digest>,
    graceMs: number,
  ): Promise<Collected> {
    const names = namesOf(needed)
    let removed = 0
    let bytes = 0
    for (const place of aside) {
      const name = place.slice(ASIDE.length)
      if (names.has(name) || !(await this.#isOlder(place, graceMs))) {
        await ifThere(() => this.#folder.rename(place, name))
        continue
      }
      const gone = await ifThere(async () => {
        const { size } = await this.#folder.stat(place)
        await this.#folder.removeFile(place)
        return (await this.#has(name)) ? undefined : size
      })
      if (gone === undefined) continue
      removed += 1
      bytes += gone
    }
    if (aside.length > 0) await this.#folder.sync()
    return { removed, bytes }
  }

  /** What is not needed and older than `graceMs`, also what a collection that died has set aside. */
  async unneeded(needed: ReadonlySet<Digest>, graceMs: number): Promise<Collected> {
    const names = namesOf(needed)
    let removed = 0
    let bytes = 0
    for (const place of await this.#folder.list()) {
      const name = SET_ASIDE.test(place) ? place.slice(ASIDE.length) : place
      if (!BLOB.test(name) || names.has(name) || !(await this.#isOlder(place, graceMs))) continue
      removed += 1
      bytes += (await ifThere(() => this.#folder.stat(place)))?.size ?? 0
    }
    return { removed, bytes }
  }

  /** Makes a checkpoint that is there young. False when it is not there, or not of this size. */
  async #refresh(name: string, size: number): Promise<boolean> {
    const file = await ifThere(() => openToWrite(this.#folder, name))
    if (file === undefined) return false
    try {
      if ((await file.stat()).size !== size) return false
      const now = new Date()
      await file.utimes(now, now)
    } finally {
      await file.close()
    }
    // Set aside at the last moment: then it is written anew.
    return this.#has(name)
  }

  async #has(name: string): Promise<boolean> {
    return (await ifThere(() => this.#folder.stat(name))) !== undefined
  }

  async #isOlder(name: string, graceMs: number): Promise<boolean> {
    const stat = await ifThere(() => this.#folder.stat(name))
    // Two clocks may differ by a little: without a grace time everything is old.
    return stat !== undefined && (graceMs === 0 || Date.now() - stat.mtimeMs >= graceMs)
  }
}

function nameOf(id: Digest): string {
  return id.slice(PREFIX.length)
}

function namesOf(ids: ReadonlySet<Digest>): ReadonlySet<string> {
  return new Set(Array.from(ids, nameOf))
}
