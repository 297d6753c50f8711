/**
 * Prepared modules in a folder, for any number of processes. Which folder is the caller's choice; that of a user's
 * caches is `$XDG_CACHE_HOME`, or `~/.cache`.
 *
 * 1. A file is written beside its place and renamed: who reads gets the old bytes or the new ones, whole. Nothing is
 *    synced: what a crash leaves behind is recognised by its authentication, and made again.
 * 2. Only plain files are read. Links are not followed, pipes not waited for, and what is larger than asked for is not
 *    read.
 * 3. The folder is the user's alone (0700) where it is made here. It stays below `maxBytes`: what was used longest ago
 *    goes first, and what writers left unfinished goes with it.
 */
import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { lstat, mkdir, open, readdir, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { CaissonError } from '../../../src/base/errors.ts'
import type { PreparedStore } from '../../../src/ports/prepared-store.ts'

export interface DirectoryPreparedStoreOptions {
  readonly path: string
  /** Of all files together; default 1 GiB. */
  readonly maxBytes?: number
}

const SUFFIX = '.prepared'
const UNFINISHED = '.unfinished'
const NAME = /^[0-9a-f]{64}$/
/** What is older was left by a writer that died. */
const UNFINISHED_MS = 3_600_000
/** A file that is read has its time set anew, not more often than this. */
const USED_MS = 3_600_000
const READ_ONLY: number = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/**
 * Makes the folder where it is missing.
 *
 * @throws CaissonError `invalid_argument`, `store_failed` where the folder cannot be made
 */
export async function openDirectoryPreparedStore(
  options: DirectoryPreparedStoreOptions,
): Promise<PreparedStore> {
  const { path, maxBytes = 1024 * 1024 * 1024 } = options
  if (typeof path !== 'string' || path === '' || path.includes('\0'))
    throw new CaissonError('invalid_argument', 'A cache of prepared modules needs the path of its folder.')
  if (!Number.isSafeInteger(maxBytes) || maxBytes < 0)
    throw new CaissonError('invalid_argument', 'Option maxBytes must be a whole number from 0.')
  const folder = resolve(path)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
  } catch (cause) {
    throw new CaissonError('store_failed', 'The folder for prepared modules cannot be made.', { cause })
  }
  return new DirectoryPreparedStore(folder, maxBytes)
}

class DirectoryPreparedStore implements PreparedStore {
  readonly #folder: string
  readonly #maxBytes: number

  constructor(folder: string, maxBytes: number) {
    this.#folder = folder
    this.#maxBytes = maxBytes
  }

  #pathOf(name: string): string {
    if (!NAME.test(name)) throw new CaissonError('invalid_argument', 'The name of an entry is 64 hex digits.')
    return join(this.#folder, `${name}${SUFFIX}`)
  }

  async get(name: string, mostBytes: number): Promise<Uint8Array | undefined> {
    const path = this.#pathOf(name)
    const file = await open(path, READ_ONLY).catch(ifNoFile)
    if (file === undefined) return undefined
    try {
      const stat = await file.stat()
      if (!stat.isFile() || stat.size > mostBytes) return undefined
      const bytes = new Uint8Array(stat.size)
      for (let at = 0; at < bytes.length; ) {
        const { bytesRead } = await file.read(bytes, at, bytes.length - at, at)
        if (bytesRead === 0) return undefined
        at += bytesRead
      }
      const now = new Date()
      // It may be gone by now: then it is not found the next time.
      if (now.getTime() - stat.mtimeMs > USED_MS) await utimes(path, now, now).catch(ifNoFile)
      return bytes
    } finally {
      await file.close()
    }
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    const path = this.#pathOf(name)
    if (bytes.length > this.#maxBytes) return
    await this.#makeRoom(bytes.length)
    const unfinished = join(this.#folder, `${randomUUID()}${UNFINISHED}`)
    try {
      await writeFile(unfinished, bytes, { flag: 'wx', mode: 0o600 })
      await rename(unfinished, path)
    } catch (error) {
      await rm(unfinished, { force: true }).catch(() => {})
      throw error
    }
  }

  async #makeRoom(needed: number): Promise<void> {
    const kept: { readonly path: string; readonly bytes: number; readonly usedMs: number }[] = []
    for (const name of await readdir(this.#folder)) {
      if (!name.endsWith(SUFFIX) && !name.endsWith(UNFINISHED)) continue
      const path = join(this.#folder, name)
      const stat = await lstat(path).catch(() => undefined)
      if (stat === undefined) continue
      if (name.endsWith(SUFFIX)) kept.push({ path, bytes: stat.size, usedMs: stat.mtimeMs })
      else if (Date.now() - stat.mtimeMs > UNFINISHED_MS) await rm(path, { force: true })
    }
    let total = kept.reduce((sum, { bytes }) => sum + bytes, needed)
    for (const { path, bytes } of kept.sort((a, b) => a.usedMs - b.usedMs)) {
      if (total <= this.#maxBytes) return
      // A folder by such a name is none of ours.
      await rm(path, { force: true }).catch(() => {})
      total -= bytes
    }
  }
}

/** Nothing by that name, or something that is not read: a link, a socket. */
function ifNoFile(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' || code === 'ELOOP' || code === 'EMLINK' || code === 'ENXIO') return undefined
  throw error
}
