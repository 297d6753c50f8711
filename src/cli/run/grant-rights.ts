/**
 * What the flags give to the program: capabilities, and grants of them. Nothing is granted without a flag.
 *
 * Invariants
 * 1. `--tools` grants what its module exports; `--grant` narrows that to what it names. `--allow-*` are grants of what
 *    they open.
 * 2. No directory granted for writing overlaps what runs: the program, the tools, this package, their modules;
 *    and none overlaps what is kept of the run.
 */
import { dirname } from 'node:path'
import { CaissonError } from '../../base/errors.ts'
import type { Capability } from '../../capability/capability.ts'
import { createCapabilityTable } from '../../capability/capability-table.ts'
import { CliError } from '../cli-error.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { findPackageRoot, modulesAbove } from '../package-root.ts'
import { distinctDirectories } from './granted-directories.ts'
import { loadTools, type Tools } from './load-tools.ts'
import { countDirectories, scopeOf } from './right-scope.ts'

export interface Rights {
  readonly capabilities: readonly Capability[]
  readonly grants: readonly string[]
  /** Names of capabilities that exist and were not granted. */
  readonly withheld: readonly string[]
  /** Names of those that came from `--tools`. */
  readonly tools: readonly string[]
  /** What the grants of `--allow-*` reach, as it is kept with a run and compared when it goes on. */
  readonly scope: readonly string[]
  /** Gives open directories back. */
  close(): Promise<void>
}

/**
 * What was granted when the run began, where that is known.
 *
 * A directory stands beside others under its name, and alone it is the root: which of the two follows from how many
 * there were then, so that a program that goes on with fewer finds the others where they were.
 */
export interface RightsBefore {
  readonly scope: readonly string[]
}

/**
 * @param own paths that no program may write to, beside what runs: the program itself, what is kept of its run
 * @throws CliError usage for what cannot be granted, refused input for a bad tools module
 */
export async function grantRights(
  given: GivenFlags,
  own: readonly string[],
  cwd: string,
  before?: RightsBefore,
): Promise<Rights> {
  const module = given.value('tools')
  const tools = module === undefined ? undefined : await loadTools(module, cwd)
  const hosts = given.values('allow-net')
  // What opens files and hosts is loaded only where some are granted: most programs are given neither.
  const network = hosts.length === 0 ? [] : (await import('./open-network.ts')).openNetwork(hosts)
  const running = runningPaths(own, tools)
  const directories = await distinctDirectories(given.values('allow-read'), given.values('allow-write'), cwd)
  const sideBySide = countDirectories(before?.scope ?? []) > 1
  const files =
    directories.size === 0
      ? undefined
      : await (await import('./open-files.ts')).openFiles(directories, running, sideBySide)
  const flagged = [...network, ...(files?.capabilities ?? [])]
  const capabilities = [...(tools?.capabilities ?? []), ...flagged]
  try {
    const all = (tools?.capabilities ?? []).map(({ name }) => name)
    const chosen = given.values('grant')
    const granted = namedGrants(chosen.length > 0 ? chosen : all, capabilities, module !== undefined)
    const grants = [...new Set([...granted, ...flagged.map(({ name }) => name)])]
    const withheld = capabilities.map(({ name }) => name).filter((name) => !grants.includes(name))
    const scope = scopeOf(directories, hosts)
    return { capabilities, grants, withheld, tools: all, scope, close: async () => files?.close() }
  } catch (error) {
    await files?.close()
    throw error
  }
}

function runningPaths(own: readonly string[], tools: Tools | undefined): readonly string[] {
  return [
    ...own,
    ...(tools === undefined ? [] : [tools.path, ...modulesAbove(dirname(tools.path))]),
    ...findPackageRoot().running,
  ]
}

function namedGrants(
  names: readonly string[],
  capabilities: readonly Capability[],
  hasTools: boolean,
): readonly string[] {
  try {
    const table = createCapabilityTable(capabilities)
    return names.map((name) => table.get(name).name)
  } catch (error) {
    if (!CaissonError.is(error)) throw error
    const unknown = error.code === 'unknown_capability'
    throw new CliError({
      exit: EXIT.usage,
      code: 'usage',
      message: unknown ? `--grant: ${error.message}` : `--tools: ${error.message}`,
      ...(unknown &&
        !hasTools && {
          hint: 'Capabilities come from --tools MODULE, or from --allow-read, --allow-write and --allow-net.',
        }),
      cause: error,
    })
  }
}
