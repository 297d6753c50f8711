/**
 * What the flags give to the program: capabilities, and grants of them. Nothing is granted without a flag.
 *
 * Invariants
 * 1. `--tools` grants what its module exports; `--grant` narrows that to what it names. `--allow-*` are grants of what
 *    they open.
 * 2. No directory granted for writing overlaps what runs: the program, the tools, this package, their modules;
 *    and none overlaps what is kept of the run.
 */
import { realpath } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { isPublicAddress, literalAddress } from '../../../host-bindings/fetch/public-address.ts'
import { createFileCapabilities } from '../../../host-bindings/files/file-capabilities.ts'
import { isFileName } from '../../../host-bindings/files/file-path.ts'
import type { FileTree } from '../../../host-bindings/files/file-tree.ts'
import {
  type DirectoryFileTree,
  openDirectoryFileTree,
} from '../../../host-bindings/files/node/directory-file-tree.node.ts'
import { CaissonError } from '../../base/errors.ts'
import { clipText } from '../../base/escape-text.ts'
import type { Capability } from '../../capability/capability.ts'
import { createCapabilityTable } from '../../capability/capability-table.ts'
import { CliError } from '../cli-error.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { findPackageRoot, modulesAbove } from '../package-root.ts'
import { loadTools, type Tools } from './load-tools.ts'
import { mountDirectories } from './mounted-directories.ts'
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
  const network = await networkCapabilities(hosts)
  const running = runningPaths(own, tools)
  const directories = await distinctDirectories(given.values('allow-read'), given.values('allow-write'), cwd)
  const files = await openFiles(directories, running, countDirectories(before?.scope ?? []) > 1)
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

async function networkCapabilities(hosts: readonly string[]): Promise<readonly Capability[]> {
  if (hosts.length === 0) return []
  for (const host of hosts) refuseUnreachable(host)
  // Loads a list of all public suffixes: only where there is something to fetch.
  const { createNodeFetchCapabilities } = await import(
    '../../../host-bindings/fetch/node/node-fetch-capabilities.node.ts'
  )
  try {
    return createNodeFetchCapabilities({ allow: hosts, allowPrivate: hosts.flatMap(privateAddress) })
  } catch (error) {
    if (!CaissonError.is(error)) throw error
    throw new CliError({
      exit: EXIT.usage,
      code: 'usage',
      message: `--allow-net: ${error.message.replace(/; if it is meant, list it in allowPrivate too: .*/, '.')}`,
      hint: 'For example --allow-net api.example.com, --allow-net "*.example.com", --allow-net localhost:8080.',
      cause: error,
    })
  }
}

/** An address or `localhost` written out with its port is meant, public or not. A name that leads there is not. */
function privateAddress(host: string): readonly string[] {
  const [, address] = /^(?:https?:\/\/)?((?:localhost|[\d.]+|\[[0-9a-f:.]+\]):\d{1,5})$/i.exec(host) ?? []
  return address === undefined ? [] : [address.toLowerCase()]
}

/** A private address without a port would be granted and never reached. */
function refuseUnreachable(host: string): void {
  const [, name = ''] = /^(?:https?:\/\/)?(\[[^\]]*\]|[^:]*)(?::\*)?$/i.exec(host) ?? []
  const address = literalAddress(name)
  const isPrivate = name === 'localhost' || (address !== undefined && !isPublicAddress(address))
  if (!isPrivate) return
  throw new CliError({
    exit: EXIT.usage,
    code: 'usage',
    message: `--allow-net ${clipText(host, 200)}: private addresses are granted one port at a time.`,
    hint: `For example --allow-net ${clipText(name, 200)}:8080.`,
  })
}

interface OpenFiles {
  readonly capabilities: readonly Capability[]
  close(): Promise<void>
}

interface GrantedDirectory {
  readonly given: string
  readonly writable: boolean
}

/** @param sideBySide also where it is only one */
async function openFiles(
  directories: ReadonlyMap<string, GrantedDirectory>,
  protect: readonly string[],
  sideBySide: boolean,
): Promise<OpenFiles | undefined> {
  if (directories.size === 0) return undefined
  const trees: DirectoryFileTree[] = []
  const close = async (): Promise<void> => {
    for (const tree of trees) await tree[Symbol.asyncDispose]()
  }
  const named = new Map<string, FileTree>()
  try {
    for (const [path, { given, writable }] of directories) {
      const tree = await openDirectory(path, given, writable, protect)
      trees.push(tree)
      named.set(mountName(path, given, named, sideBySide || directories.size > 1), tree)
    }
  } catch (error) {
    await close()
    throw error
  }
  const [only] = trees
  const tree = trees.length === 1 && only && !sideBySide ? only : mountDirectories(named)
  const write = [...directories.values()].some(({ writable }) => writable)
  return { capabilities: createFileCapabilities({ tree, write }), close }
}

/** By real path, so that a directory named twice is one; writable if one of its flags says so. */
async function distinctDirectories(
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

async function openDirectory(
  path: string,
  given: string,
  writable: boolean,
  protect: readonly string[],
): Promise<DirectoryFileTree> {
  try {
    return await openDirectoryFileTree({ root: path, writable, protect })
  } catch (error) {
    if (!CaissonError.is(error)) throw error
    const overlaps = error.details.protected !== undefined
    throw new CliError({
      exit: EXIT.usage,
      code: 'usage',
      message: `--allow-${writable ? 'write' : 'read'} ${clipText(given, 200)}: ${error.message}`,
      hint: overlaps
        ? 'A program must not be able to change what runs. Grant a directory of its own, for example ./out.'
        : 'Name a directory that exists.',
      cause: error,
    })
  }
}

function mountName(
  path: string,
  given: string,
  taken: ReadonlyMap<string, unknown>,
  beside: boolean,
): string {
  const name = basename(path)
  if (!beside || (isFileName(name) && !taken.has(name))) return name
  throw new CliError({
    exit: EXIT.usage,
    code: 'usage',
    message: taken.has(name)
      ? `Two granted directories have the name "${clipText(name, 80)}"; the program could not tell them apart.`
      : `The directory "${clipText(given, 200)}" has no name under which a program could find it beside others.`,
    hint: 'Several granted directories stand side by side under their names. Rename one, or grant the one above.',
  })
}
