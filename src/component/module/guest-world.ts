/**
 * What a WASI guest finds, as plain data: the part of what it is started with that modules and components share.
 *
 * It stands in logs and in captures, which may have been written by anybody: it is checked whole before it is used.
 */

/** A directory that the guest finds opened. */
export interface ModuleDirectory {
  /** Where it sees it: an absolute path. */
  readonly guestPath: string
  readonly writable: boolean
  /** The files of a directory in memory, by relative path; null for one that the host brings (a real directory). */
  readonly files: Readonly<Record<string, Uint8Array>> | null
}

export interface GuestWorld {
  /** The first is the program's name. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly stdin: Uint8Array
  readonly directories: readonly ModuleDirectory[]
  /** Whether it has a clock, and randomness. */
  readonly clock: boolean
  readonly random: boolean
}

const MOST_TEXTS = 10_000
const MOST_DIRECTORIES = 100
const MOST_FILES = 100_000

/** What is wrong with it, as the end of a sentence; undefined for a world. */
export function worldProblem(given: Partial<GuestWorld>): string | undefined {
  const { args, env, stdin, directories, clock, random } = given
  if (!isTexts(args)) return 'its arguments are no texts'
  if (!isRecord(env) || !isTexts(Object.values(env))) return 'its environment holds no texts'
  if (!(stdin instanceof Uint8Array)) return 'its standard input is no bytes'
  if (typeof clock !== 'boolean' || typeof random !== 'boolean') return 'it has no clock'
  const areDirectories =
    Array.isArray(directories) && directories.length <= MOST_DIRECTORIES && directories.every(isDirectory)
  return areDirectories ? undefined : 'its directories are none'
}

/** Bytes that it brings into the guest. */
export function worldBytes({ args, env, stdin, directories }: GuestWorld): number {
  const texts = [...args, ...Object.entries(env).flat()]
  const files = directories.flatMap(({ files }) => Object.values(files ?? {}))
  return (
    texts.reduce((sum, text) => sum + text.length, stdin.length) +
    files.reduce((sum, bytes) => sum + bytes.length, 0)
  )
}

function isDirectory(given: unknown): boolean {
  if (!isRecord(given)) return false
  const { guestPath, writable, files } = given
  if (typeof guestPath !== 'string' || typeof writable !== 'boolean') return false
  if (files === null) return true
  const contents = isRecord(files) ? Object.values(files) : undefined
  return (
    contents !== undefined &&
    contents.length <= MOST_FILES &&
    contents.every((bytes) => bytes instanceof Uint8Array)
  )
}

function isTexts(given: unknown): boolean {
  return Array.isArray(given) && given.length <= MOST_TEXTS && given.every((text) => typeof text === 'string')
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
