/**
 * Directories of `--allow-read` and `--allow-write` for a module: `DIR`, which it finds under its name (`data` as
 * `/data`), or `DIR:GUEST`. None that may be written to overlaps what runs.
 */
import { realpath } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { openDirectoryFileTree } from '../../../host-bindings/files/node/directory-file-tree.node.ts'
import { createHostTree } from '../../../host-bindings/wasi/node/host-tree.node.ts'
import { CaissonError } from '../../base/errors.ts'
import { clipText } from '../../base/escape-text.ts'
import type { ModuleDirectoryGrant } from '../../runtime/wasi/module-options.ts'
import { CliError } from '../cli-error.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { findPackageRoot } from '../package-root.ts'
import { scopeOf } from '../run/right-scope.ts'

/**
 * @param own paths that it may not write to: its own file, what is kept of it
 * @throws CliError usage
 */
export async function moduleDirectories(
  given: GivenFlags,
  own: readonly string[],
  cwd: string,
): Promise<Readonly<Record<string, ModuleDirectoryGrant>>> {
  const directories: Record<string, ModuleDirectoryGrant> = {}
  /** What the guest finds there. */
  const places = new Map<string, string>()
  const protect = [...own.map((path) => resolve(cwd, path)), ...findPackageRoot().running]
  for (const [flag, writable] of [
    ['allow-read', false],
    ['allow-write', true],
  ] as const) {
    for (const text of given.values(flag)) {
      const [path, guestPath] = splitPaths(text, cwd)
      await check(path, text, flag, writable, protect)
      const real = await realpath(path)
      const there = places.get(guestPath)
      if (there !== undefined && there !== real) throw samePlace(text, flag, guestPath, there)
      places.set(guestPath, real)
      directories[guestPath] = { open: (nowNs) => createHostTree({ root: path, nowNs }), writable }
    }
  }
  return directories
}

/** What they reach, and the hosts of `--allow-net`, as it is kept with a run. Of what does not exist, nothing: that is refused. */
export async function guestScope(given: GivenFlags, cwd: string): Promise<readonly string[]> {
  const reached = new Map<string, { readonly writable: boolean }>()
  for (const [flag, writable] of [
    ['allow-read', false],
    ['allow-write', true],
  ] as const) {
    for (const text of given.values(flag)) {
      const path = await realpath(splitPaths(text, cwd)[0]).catch(() => undefined)
      if (path !== undefined)
        reached.set(path, { writable: writable || reached.get(path)?.writable === true })
    }
  }
  return scopeOf(reached, given.values('allow-net'))
}

/** A drive letter is no separator. */
function splitPaths(text: string, cwd: string): readonly [path: string, guestPath: string] {
  const at = text.indexOf(':/')
  if (at > 1) return [resolve(cwd, text.slice(0, at)), text.slice(at + 1)]
  const path = resolve(cwd, text)
  return [path, `/${basename(path)}`]
}

/** One of the two would not be there, and nothing would say so. */
function samePlace(text: string, flag: string, guestPath: string, there: string): CliError {
  return new CliError({
    exit: EXIT.usage,
    code: 'usage',
    message: `--${flag} ${clipText(text, 200)}: the program finds ${clipText(there, 200)} at ${clipText(guestPath, 200)} already.`,
    hint: `Say where it finds the other one: --${flag} DIR:/other`,
  })
}

/** By what the same flags do for other programs. */
async function check(
  path: string,
  given: string,
  flag: string,
  writable: boolean,
  protect: readonly string[],
): Promise<void> {
  try {
    const tree = await openDirectoryFileTree({ root: path, writable, protect })
    await tree[Symbol.asyncDispose]()
  } catch (error) {
    if (!CaissonError.is(error)) throw error
    throw new CliError({
      exit: EXIT.usage,
      code: 'usage',
      message: `--${flag} ${clipText(given, 200)}: ${error.message}`,
      hint:
        error.details.protected === undefined
          ? 'Name a directory that exists.'
          : `A program must not be able to change what runs. Grant a directory of its own, for example ${dirname(path)}/out.`,
      cause: error,
    })
  }
}
