/**
 * The paths that a guest may name. One rule on every platform and for every tree, so that the same program means the
 * same files everywhere.
 *
 * 1. What comes out are plain names: no `.`, no `..`, no separator, nothing empty.
 * 2. No name means something special to an operating system: no control characters, no `\` (separator) and `:`
 *    (drive, alternate stream) of Windows, no lone surrogate (several names would become one on disk).
 * 3. Names that this library uses for its own temporary files are refused.
 */
import { CaissonError } from '../../src/base/errors.ts'

/** Begins the names of temporary files. Guests neither see nor name them. */
export const TEMPORARY_PREFIX = '.caisson-'

/** Longest path, in UTF-16 code units. */
export const MAX_PATH_LENGTH = 4_096
/** Longest single name in UTF-8 bytes: what the usual file systems take. */
const MAX_NAME_BYTES = 255
const MAX_DEPTH = 64

// biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is the point
const FORBIDDEN = /[\u0000-\u001f\u007f\\:\ud800-\udfff]/u

/**
 * The names along `path`, from the granted directory inwards; empty for the directory itself (`.`).
 * @throws CaissonError `path_denied`, saying which rule the path breaks
 */
export function parseFilePath(path: string): readonly string[] {
  if (path.length > MAX_PATH_LENGTH) throw refusePath(path, `is longer than ${MAX_PATH_LENGTH} characters`)
  if (path === '') throw refusePath(path, 'is empty; "." is the granted directory itself')
  if (path.startsWith('/')) {
    throw refusePath(
      path,
      'is absolute; name files relative to the granted directory, without the leading "/"',
    )
  }
  const names = path.split('/').filter((name) => name !== '.')
  if (names.length > MAX_DEPTH) throw refusePath(path, `is deeper than ${MAX_DEPTH} levels`)
  for (const name of names) {
    const problem = nameProblem(name)
    if (problem !== undefined) throw refusePath(path, problem)
  }
  return names
}

/** Whether a guest could name this entry of a directory. */
export function isFileName(name: string): boolean {
  return name !== '.' && !name.includes('/') && nameProblem(name) === undefined
}

/** A refusal that shows the guest's own path, shortened, and nothing of the host's. */
export function refusePath(path: string, problem: string): CaissonError {
  return new CaissonError('path_denied', `The path ${showPath(path)} ${problem}.`)
}

/** The path as it stands in messages: quoted, escaped, at most 200 characters of it. */
export function showPath(path: string): string {
  return JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}...` : path)
}

function nameProblem(name: string): string | undefined {
  if (name === '') return 'has an empty name (a double or trailing "/")'
  if (name === '..') return 'leads upwards with ".."; only what is inside the granted directory can be named'
  if (FORBIDDEN.test(name)) return 'has a control character, a backslash or a colon'
  if (name.startsWith(TEMPORARY_PREFIX)) return `begins with "${TEMPORARY_PREFIX}", which is reserved`
  // A UTF-16 code unit is at most three bytes of UTF-8: most names need no encoding to be judged.
  const tooLong = name.length * 3 > MAX_NAME_BYTES && new TextEncoder().encode(name).length > MAX_NAME_BYTES
  return tooLong ? `has a name longer than ${MAX_NAME_BYTES} bytes` : undefined
}
