/** The directories that `--allow-read` and `--allow-write` name. */
import { realpath } from 'node:fs/promises'
import { resolve } from 'node:path'

export interface GrantedDirectory {
  readonly given: string
  readonly writable: boolean
}

/** By real path, so that a directory named twice is one; writable if one of its flags says so. */
export async function distinctDirectories(
  read: readonly string[],
  write: readonly string[],
  cwd: string,
): Promise<ReadonlyMap<string, GrantedDirectory>> {
  const directories = new Map<string, GrantedDirectory>()
  for (const [list, writable] of [
    [write, true],
    [read, false],
  ] as const) {
    for (const given of list) {
      const path = resolve(cwd, given)
      const real = await realpath(path).catch(() => path)
      if (!directories.has(real)) directories.set(real, { given, writable })
    }
  }
  return directories
}
