/**
 * A program that may write must not be able to write what runs or what is believed: the store, the tools, the running
 * source. This refuses a granted directory that contains such a path, or stands inside one.
 *
 * Compared are device and inode of every directory upwards, not spelling: letter case, links, bind mounts and `..` do
 * not get around it. A protected path that does not exist yet counts with the place where it would be made.
 */
import { realpath, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { CaissonError } from '../../../src/base/errors.ts'

/** @throws CaissonError `invalid_argument` where the directory `root` and a protected path overlap */
export async function refuseOverlap(root: string, protectedPaths: readonly string[]): Promise<void> {
  const granted = await locate(root)
  for (const path of protectedPaths) {
    const guarded = await locate(path)
    const apart = !isWithin(granted, guarded) && !isWithin(guarded, granted)
    if (apart) continue
    throw new CaissonError(
      'invalid_argument',
      `The directory ${root} cannot be granted for writing: it overlaps the protected path ${path}.`,
      { details: { root, protected: path } },
    )
  }
}

interface Location {
  /** Identity of the thing itself; undefined while it does not exist. */
  readonly self: string | undefined
  /** Its own identity and that of every directory above it. */
  readonly upwards: ReadonlySet<string>
}

function isWithin(inner: Location, outer: Location): boolean {
  return outer.self !== undefined && inner.upwards.has(outer.self)
}

async function locate(path: string): Promise<Location> {
  const absolute = resolve(path)
  let existing = absolute
  let real = await realpathIfThere(existing)
  while (real === undefined) {
    existing = dirname(existing)
    real = await realpathIfThere(existing)
  }
  const chain: string[] = []
  for (let current = real; ; current = dirname(current)) {
    const { dev, ino } = await stat(current, { bigint: true })
    chain.push(`${dev}:${ino}`)
    if (dirname(current) === current) break
  }
  return { self: existing === absolute ? chain[0] : undefined, upwards: new Set(chain) }
}

async function realpathIfThere(path: string): Promise<string | undefined> {
  try {
    return await realpath(path)
  } catch (error) {
    // The file system's own root is always there, so going upwards ends.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
