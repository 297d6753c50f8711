/** A file tree in the host's memory: for pages, tests, and programs that need scratch space only. */
import { CaissonError } from '../../src/base/errors.ts'
import { parseFilePath, refusePath, showPath } from './file-path.ts'
import { checkReadSize, FileGrowth, type FileQuota, parseFileQuota } from './file-quota.ts'
import { type FileEntry, type FileStat, type FileTree, MAX_LISTED } from './file-tree.ts'

export interface MemoryFileTreeOptions {
  /** Files to begin with, by path; text is stored as UTF-8. They do not count as growth. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>
  /** Whether `write`, `remove` and `mkdir` work. Default true. */
  readonly writable?: boolean
  readonly quota?: Partial<FileQuota>
  /** Time for `modifiedMs`. Default: the system's. */
  readonly now?: () => number
}

interface MemoryFile {
  readonly kind: 'file'
  readonly data: Uint8Array
  readonly modifiedMs: number
}

interface MemoryDirectory {
  readonly kind: 'directory'
  readonly children: Map<string, MemoryFile | MemoryDirectory>
  readonly modifiedMs: number
}

const UNLIMITED: FileQuota = {
  fileBytes: Number.MAX_SAFE_INTEGER,
  totalBytes: Number.MAX_SAFE_INTEGER,
  entries: Number.MAX_SAFE_INTEGER,
  operations: 1,
}

/**
 * A tree of its own, gone when nobody holds it.
 * @throws CaissonError `path_denied` for an impossible path in `files`, `invalid_limit`
 */
export function createMemoryFileTree(options: MemoryFileTreeOptions = {}): FileTree {
  const { files = {}, writable = true, now = Date.now } = options
  const quota = parseFileQuota(options.quota)
  // Growth begins after what the embedder put in.
  let growth = new FileGrowth(UNLIMITED)
  const root: MemoryDirectory = { kind: 'directory', children: new Map(), modifiedMs: now() }

  const find = (path: string): MemoryFile | MemoryDirectory => {
    let node: MemoryFile | MemoryDirectory = root
    for (const name of parseFilePath(path)) {
      if (node.kind === 'file') throw refusePath(path, 'leads through a file')
      const child: MemoryFile | MemoryDirectory | undefined = node.children.get(name)
      if (child === undefined) throw new CaissonError('not_found', `There is no ${showPath(path)}.`)
      node = child
    }
    return node
  }

  /** The directory that holds `path`, and the name in it. */
  const findParent = (path: string): readonly [MemoryDirectory, string] => {
    const names = parseFilePath(path)
    const name = names.at(-1)
    if (name === undefined) throw refusePath(path, 'is the granted directory itself')
    const parent = find(names.slice(0, -1).join('/') || '.')
    if (parent.kind !== 'directory') throw refusePath(path, 'leads through a file')
    return [parent, name]
  }

  const makeDirectories = (path: string): void => {
    const names = parseFilePath(path)
    let directory = root
    for (const name of names) {
      const child = directory.children.get(name)
      if (child?.kind === 'file') {
        throw new CaissonError('already_exists', `A file stands where ${showPath(path)} needs a directory.`)
      }
      directory = child ?? makeDirectory(directory, name)
    }
  }
  const makeDirectory = (parent: MemoryDirectory, name: string): MemoryDirectory => {
    growth.check(0, 1)
    const made: MemoryDirectory = { kind: 'directory', children: new Map(), modifiedMs: now() }
    parent.children.set(name, made)
    growth.add(0, 1)
    return made
  }

  const put = (path: string, data: Uint8Array): void => {
    const [parent, name] = findParent(path)
    const old = parent.children.get(name)
    if (old?.kind === 'directory') throw refusePath(path, 'is a directory')
    growth.checkFile(data.byteLength)
    const grownBytes = data.byteLength - (old?.data.byteLength ?? 0)
    const grownEntries = old === undefined ? 1 : 0
    growth.check(grownBytes, grownEntries)
    parent.children.set(name, { kind: 'file', data: new Uint8Array(data), modifiedMs: now() })
    growth.add(grownBytes, grownEntries)
  }

  const requireWritable = (): void => {
    if (!writable) throw new CaissonError('denied', 'The directory was granted for reading only.')
  }

  for (const [path, content] of Object.entries(files)) {
    makeDirectories(path.split('/').slice(0, -1).join('/') || '.')
    put(path, typeof content === 'string' ? new TextEncoder().encode(content) : content)
  }
  growth = new FileGrowth(quota)

  return {
    async read(path, range) {
      const file = find(path)
      if (file.kind !== 'file') throw refusePath(path, 'is a directory; list it instead')
      const { offset = 0, length = file.data.byteLength } = range ?? {}
      const part = file.data.subarray(offset, offset + length)
      checkReadSize(part.byteLength, quota)
      return part.slice()
    },
    stat: async (path) => statOf(find(path)),
    async list(path) {
      const directory = find(path)
      if (directory.kind !== 'directory') throw refusePath(path, 'is a file; only a directory has a list')
      if (directory.children.size > MAX_LISTED) {
        throw new CaissonError('result_too_large', `The directory has more than ${MAX_LISTED} entries.`)
      }
      const entries = [...directory.children].map(([name, child]): FileEntry => {
        const { kind, bytes } = statOf(child)
        return { name, kind, bytes }
      })
      return entries.sort((left, right) => (left.name < right.name ? -1 : 1))
    },
    async write(path, data) {
      requireWritable()
      put(path, data)
    },
    async remove(path) {
      requireWritable()
      const [parent, name] = findParent(path)
      const node = find(path)
      if (node.kind === 'directory' && node.children.size > 0) {
        throw new CaissonError('denied', `The directory ${showPath(path)} is not empty.`)
      }
      parent.children.delete(name)
      growth.add(-statOf(node).bytes, -1)
    },
    async mkdir(path) {
      requireWritable()
      makeDirectories(path)
    },
    locate: () => undefined,
  }
}

function statOf(node: MemoryFile | MemoryDirectory): FileStat {
  const bytes = node.kind === 'file' ? node.data.byteLength : 0
  return { kind: node.kind, bytes, modifiedMs: node.modifiedMs }
}
