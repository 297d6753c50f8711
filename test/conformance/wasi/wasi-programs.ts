/**
 * The compiled preview-1 programs of wasi-testsuite in a checkout of its branch `prod/testsuite-base`, and what each is
 * run with: a `.json` beside it says so, where it is not the default.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Folders of compiled programs, from the root of the checkout. */
const SETS = ['c', 'rust', 'assemblyscript'].map(
  (name) => [name, `tests/${name}/testsuite/wasm32-wasip1`] as const,
)

export interface WasiProgram {
  readonly set: string
  readonly name: string
  readonly module: Uint8Array
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Files that it finds in its directory, by relative path; undefined where it has no directory. */
  readonly files: Readonly<Record<string, Uint8Array>> | undefined
  readonly exitCode: number
  readonly stdout: string | undefined
}

/** @throws Error when the folder has no compiled programs */
export function readPrograms(checkout: string): readonly WasiProgram[] {
  const programs = SETS.flatMap(([set, folder]) => {
    const path = join(checkout, folder)
    if (!existsSync(path)) return []
    const names = readdirSync(path).filter((name) => name.endsWith('.wasm'))
    return names.sort().map((name) => readProgram(set, path, name.replace(/\.wasm$/, '')))
  })
  if (programs.length === 0) throw new Error(`There are no compiled programs in ${checkout}.`)
  return programs
}

function readProgram(set: string, folder: string, name: string): WasiProgram {
  const description = join(folder, `${name}.json`)
  const {
    args = [],
    env = {},
    root,
    dirs = root === undefined ? [] : [root],
    exit_code: exitCode = 0,
    stdout,
  } = (existsSync(description) ? JSON.parse(readFileSync(description, 'utf8')) : {}) as {
    args?: string[]
    env?: Record<string, string>
    root?: string
    dirs?: string[]
    exit_code?: number
    stdout?: string
  }
  return {
    set,
    name,
    module: readFileSync(join(folder, `${name}.wasm`)),
    args: [`${name}.wasm`, ...args],
    env,
    files: dirs[0] === undefined ? undefined : readFiles(join(folder, dirs[0])),
    exitCode,
    stdout,
  }
}

function readFiles(folder: string): Record<string, Uint8Array> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return Object.fromEntries(
    paths
      .filter((path) => statSync(join(folder, path)).isFile())
      .map((path) => [path.replaceAll('\\', '/'), new Uint8Array(readFileSync(join(folder, path)))]),
  )
}
