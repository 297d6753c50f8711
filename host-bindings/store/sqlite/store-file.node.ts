/**
 * The file of a store in SQLite: made for nobody else to read, known again, missed when it is gone.
 *
 * 1. What is not a database is refused before SQLite opens it. What is no file is not even opened: a pipe waits for ever.
 * 2. SQLite goes on writing into files that were removed or replaced under it. Nothing is acknowledged from there.
 */
import { type BigIntStats, statSync } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { CaissonError } from '../../../src/base/errors.ts'
import { noStoreYet, notAStore } from './sqlite-schema.ts'

/** How every file of SQLite begins. */
const MAGIC = 'SQLite format 3\0'

/**
 * The file at `path`, and its folder, made where they are missing.
 * @returns the path, absolute
 * @throws CaissonError `invalid_argument`; errors of `node:fs`
 */
export async function makeStoreFile(path: string): Promise<string> {
  const absolute = absolutePath(path)
  await mkdir(dirname(absolute), { recursive: true, mode: 0o700 })
  if (await makeEmpty(absolute)) await syncFolder(dirname(absolute))
  await checkMagic(absolute)
  return absolute
}

/**
 * The file at `path`, as it is.
 * @returns the path, absolute
 * @throws CaissonError `invalid_argument`, `not_found`; errors of `node:fs`
 */
export async function findStoreFile(path: string): Promise<string> {
  const absolute = absolutePath(path)
  if (statSync(absolute, { throwIfNoEntry: false }) === undefined) throw noStoreYet()
  await checkMagic(absolute)
  return absolute
}

function absolutePath(path: string): string {
  if (typeof path === 'string' && path !== '' && !path.includes('\0')) return resolve(path)
  throw new CaissonError('invalid_argument', 'A store needs the path of its file.')
}

/** @returns whether it was missing */
async function makeEmpty(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600)
    await file.close()
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** So that the name of the file is durable too. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return // opens no folders; there names are durable by themselves
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Invariant 1. */
async function checkMagic(path: string): Promise<void> {
  for (const one of [path, `${path}-journal`, `${path}-wal`, `${path}-shm`]) {
    if (statSync(one, { throwIfNoEntry: false })?.isFile() === false) throw notAStore()
  }
  const file = await open(path, 'r')
  try {
    if (!(await file.stat()).isFile()) throw notAStore()
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0)
    if (bytesRead > 0 && buffer.toString('latin1', 0, bytesRead) !== MAGIC) throw notAStore()
  } finally {
    await file.close()
  }
}

/** Invariant 2: whether the files that are open are still those that the path leads to. */
export class SameFile {
  readonly #files: readonly (readonly [path: string, seen: BigIntStats])[]

  /** @param path of a database in WAL mode that is open, and so has its log beside it */
  constructor(path: string) {
    this.#files = [path, `${path}-wal`].map((one) => [one, statSync(one, { bigint: true })] as const)
  }

  /** @throws CaissonError `store_failed` with `details.vanished` */
  check(): void {
    for (const [path, seen] of this.#files) {
      const now = statSync(path, { bigint: true, throwIfNoEntry: false })
      if (now?.ino === seen.ino && now.dev === seen.dev) continue
      throw new CaissonError('store_failed', 'The file of the store has vanished.', {
        details: { vanished: true },
      })
    }
  }
}
