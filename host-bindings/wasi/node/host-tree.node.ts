/**
 * A real directory as a tree of the WASI host.
 *
 * 1. Nothing leads out of it: every name is looked up in a directory that is held, links never followed here (those
 *    inside are read, and resolved by the rules of all trees).
 * 2. Only plain files are opened. What a name stands for is asked before, so that no device is touched, and of what was
 *    opened again; a pipe is never waited for.
 * 3. A guest makes no links in it: other programs would follow them.
 * 4. It grows by no more than its quota.
 * 5. Times that the guest causes are those of its own clock, and it sees none of directories: they would be the host's.
 */
import {
  constants,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  type Stats,
  statfsSync,
  unlinkSync,
} from 'node:fs'
import { CaissonError } from '../../../src/base/errors.ts'
import type { WasiDirectory, WasiFile, WasiOpenHow, WasiTree } from '../../../src/ports/wasi-files.ts'
import { FileFailure, unlessMissing } from '../files/file-failure.ts'
import type { WasiTreeQuota } from '../files/memory-node.ts'
import { canAnchor, type HeldDirectory, holdDirectory, type Lookup } from './held-directory.node.ts'
import { openHostFile, statOfHost } from './host-file.node.ts'
import { HostTreeUsage } from './host-tree-usage.node.ts'
import { orFileFailure } from './node-error.node.ts'

export interface HostTreeOptions {
  /** The granted directory. It may be named through links; what it is at opening is what is granted. */
  readonly root: string
  /** By how much it may grow. Defaults as for a tree in memory. */
  readonly quota?: Partial<WasiTreeQuota>
  /** Time of the guest's changes, in nanoseconds since the epoch: its own clock, not the host's. */
  readonly nowNs: () => bigint
  /** How names are kept inside. Default: `anchored` where the system can (Linux), else `checked`. */
  readonly lookup?: Lookup
}

const DEFAULT_QUOTA: WasiTreeQuota = { fileBytes: 67_108_864, totalBytes: 67_108_864, entries: 10_000 }

/** Magic numbers of file systems that are no storage: proc, sysfs, devpts, debugfs, tracefs, cgroup and cgroup2. */
const PSEUDO_FILE_SYSTEMS: ReadonlySet<number> = new Set([
  0x9fa0, 0x62656572, 0x1cd1, 0x64626720, 0x74726163, 0x27e0eb, 0x63677270,
])

/** @throws CaissonError `invalid_argument` for what is no directory, or no storage */
export function createHostTree(options: HostTreeOptions): WasiTree {
  const root = realRoot(options.root)
  const lookup = options.lookup ?? (canAnchor(root) ? 'anchored' : 'checked')
  const context: HostContext = {
    usage: new HostTreeUsage({ ...DEFAULT_QUOTA, ...options.quota }),
    nowNs: options.nowNs,
  }
  return { open: () => orFileFailure(() => openHostDirectory(context, holdDirectory(root, lookup))) }
}

function realRoot(path: string): string {
  try {
    const root = realpathSync(path)
    if (lstatSync(root).isDirectory() && !PSEUDO_FILE_SYSTEMS.has(statfsSync(root).type)) return root
  } catch (cause) {
    throw new CaissonError('invalid_argument', `The directory ${path} cannot be opened.`, { cause })
  }
  throw new CaissonError('invalid_argument', `The path ${path} is no directory of files.`)
}

interface HostContext {
  readonly usage: HostTreeUsage
  readonly nowNs: () => bigint
}

const held = new WeakMap<WasiDirectory, { readonly context: HostContext; readonly names: HeldDirectory }>()

function openHostDirectory(context: HostContext, names: HeldDirectory): WasiDirectory {
  const { usage } = context
  const at = <T>(name: string, act: (path: string) => T): T => orFileFailure(() => names.use(name, act))
  const statOf = (name: string): Stats => at(name, (path) => lstatSync(path))
  /** Makes something of the name, within the quota. */
  const add = (name: string, make: (path: string) => void): void => {
    usage.usage.addEntry()
    try {
      at(name, make)
    } catch (error) {
      usage.usage.removeEntry(0)
      throw error
    }
  }
  const remove = (name: string, act: (path: string) => void): void => {
    const stat = statOf(name)
    at(name, act)
    usage.removed(stat)
  }
  const openFile = (name: string, how: WasiOpenHow): WasiFile => {
    const found = unlessMissing(() => statOf(name))
    if (found !== undefined)
      return openHostFile(context, requireFile(found), how, (flags) => at(name, open(flags)))
    if (!how.create) throw new FileFailure('no-entry')
    let fd = -1
    add(name, (path) => {
      fd = open(constants.O_RDWR | constants.O_CREAT | constants.O_EXCL)(path)
    })
    return openHostFile(context, undefined, how, () => fd)
  }
  const directory: WasiDirectory = {
    stat: () => statOfHost(usage, statOf('.')),
    statOf: (name) => statOfHost(usage, statOf(name)),
    openFile,
    openDirectory: (name) => {
      const stat = statOf(name)
      if (stat.isSymbolicLink()) throw new FileFailure('loop')
      if (!stat.isDirectory()) throw new FileFailure('not-directory')
      return openHostDirectory(
        context,
        orFileFailure(() => names.open(name)),
      )
    },
    readLink: (name) => at(name, (path) => readlinkSync(path)),
    makeDirectory: (name) => add(name, (path) => mkdirSync(path)),
    makeLink: () => {
      throw new FileFailure('not-permitted')
    },
    removeFile: (name) => {
      if (statOf(name).isDirectory()) throw new FileFailure('is-directory')
      remove(name, (path) => unlinkSync(path))
    },
    removeDirectory: (name) => remove(name, (path) => rmdirSync(path)),
    rename: (name, target, newName) => {
      const to = namesOf(context, target)
      const replaced = unlessMissing(() => orFileFailure(() => to.use(newName, (path) => lstatSync(path))))
      const source = statOf(name)
      at(name, (path) => to.use(newName, (newPath) => renameSync(path, newPath)))
      const isOther = replaced !== undefined && (replaced.ino !== source.ino || replaced.dev !== source.dev)
      if (isOther) usage.removed(replaced)
    },
    hardLink: (name, target, newName) => {
      const to = namesOf(context, target)
      requireFile(statOf(name))
      usage.usage.addEntry()
      try {
        at(name, (path) => to.use(newName, (newPath) => linkSync(path, newPath)))
      } catch (error) {
        usage.usage.removeEntry(0)
        throw error
      }
    },
    setTimesOf: (name, { accessedNs, modifiedNs }) => {
      const stat = statOf(name)
      if (stat.isDirectory()) return
      const file = openFile(name, { write: true, create: false, exclusive: false, truncate: false })
      file.setTimes({ accessedNs, modifiedNs })
      file.close()
    },
    entries: () =>
      at('.', (path) => readdirSync(path))
        .sort((left, right) => (left < right ? -1 : 1))
        .flatMap((name) => {
          const stat = unlessMissing(() => statOfHost(usage, statOf(name)))
          return stat === undefined ? [] : [{ name, kind: stat.kind, inode: stat.inode }]
        }),
    sync: () => orFileFailure(() => names.sync()),
    close: () => names.close(),
  }
  held.set(directory, { context, names })
  return directory
}

function open(flags: number): (path: string) => number {
  // A pipe is not waited for, and a terminal does not become ours.
  const safe = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)
  return (path) => openSync(path, flags | safe, 0o666)
}

function namesOf(context: HostContext, directory: WasiDirectory): HeldDirectory {
  const found = held.get(directory)
  if (found?.context !== context) throw new FileFailure('cross-device')
  return found.names
}

function requireFile(stat: Stats): Stats {
  if (stat.isFile()) return stat
  if (stat.isSymbolicLink()) throw new FileFailure('loop')
  throw new FileFailure(stat.isDirectory() ? 'is-directory' : 'not-permitted')
}
