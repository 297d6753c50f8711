/**
 * What a WASI module is started with, as plain data: the part of `MachineStart` that is its own.
 *
 * It stands in logs and in captures, which may have been written by anybody: it is checked whole before it is used. The
 * module itself is named by the engine id of its machine, and never part of it.
 */
import { CaissonError } from '../../base/errors.ts'
import { showCount } from '../../base/show-count.ts'

/** A directory that the guest finds opened. */
export interface ModuleDirectory {
  /** Where it sees it: an absolute path. */
  readonly guestPath: string
  readonly writable: boolean
  /** The files of a directory in memory, by relative path; null for one that the host brings (a real directory). */
  readonly files: Readonly<Record<string, Uint8Array>> | null
}

export interface ModuleProgram {
  readonly kind: 'module'
  readonly version: 1
  /** The export that is run: `_start` of a command. It takes no parameters. */
  readonly entry: string
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

/** @throws CaissonError `corrupted` */
export function parseModuleProgram(given: unknown): ModuleProgram {
  const program = given as Partial<ModuleProgram> | null | undefined
  if (!isRecord(program) || program.kind !== 'module' || program.version !== 1) throw refuse('it is none')
  const { entry, args, env, stdin, directories, clock, random } = program
  if (typeof entry !== 'string' || entry.length > 1_000) throw refuse('its entry is no name')
  if (!isTexts(args)) throw refuse('its arguments are no texts')
  if (!isRecord(env) || !isTexts(Object.values(env))) throw refuse('its environment holds no texts')
  if (!(stdin instanceof Uint8Array)) throw refuse('its standard input is no bytes')
  if (typeof clock !== 'boolean' || typeof random !== 'boolean') throw refuse('it has no clock')
  if (!Array.isArray(directories) || directories.length > MOST_DIRECTORIES || !directories.every(isDirectory))
    throw refuse('its directories are none')
  return program as ModuleProgram
}

/** Bytes that it brings into the guest. */
export function programBytes({ args, env, stdin, directories }: ModuleProgram): number {
  const texts = [...args, ...Object.entries(env).flat()]
  const files = directories.flatMap(({ files }) => Object.values(files ?? {}))
  return (
    texts.reduce((sum, text) => sum + text.length, stdin.length) +
    files.reduce((sum, bytes) => sum + bytes.length, 0)
  )
}

/** @throws CaissonError `value_too_large` for a program that could not be written down */
export function checkProgramSize(program: ModuleProgram, most: number): void {
  const bytes = programBytes(program)
  if (bytes <= most) return
  throw new CaissonError(
    'value_too_large',
    `Input, files, arguments and environment of the module take ${showCount(bytes)} bytes; limit bytesIn allows ${showCount(most)}.`,
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

function refuse(what: string): CaissonError {
  return new CaissonError('corrupted', `The program of a module cannot be used: ${what}.`)
}
