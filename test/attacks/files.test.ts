/** Attacks on a granted directory: nothing outside is read or written, nothing blocks, nothing is lost. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import {
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type DirectoryFileTree,
  type DirectoryFileTreeOptions,
  openDirectoryFileTree,
} from '../../host-bindings/files/node/directory-file-tree.node.ts'

const denied = expect.objectContaining({ code: 'path_denied' })
const codeOf = (error: unknown): string => (error as { code?: string }).code ?? String(error)
const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

let base: string
let root: string
let outside: string
const open: DirectoryFileTree[] = []

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'caisson-attack-')))
  root = join(base, 'root')
  outside = join(base, 'outside')
  await mkdir(root)
  await mkdir(outside)
  await writeFile(join(outside, 'secret'), 'SECRET')
})

afterEach(async () => {
  for (const tree of open.splice(0)) await tree[Symbol.asyncDispose]()
  await rm(base, { recursive: true })
})

const lookups: readonly ('anchored' | 'checked')[] =
  process.platform === 'linux' ? ['anchored', 'checked'] : ['checked']

describe.each(lookups)('a granted directory, names %s', (lookup) => {
  const grant = async (options: Partial<DirectoryFileTreeOptions> = {}): Promise<DirectoryFileTree> => {
    const tree = await openDirectoryFileTree({ root, writable: true, lookup, ...options })
    open.push(tree)
    return tree
  }
  const nothingHappenedOutside = async (): Promise<void> => {
    expect(await readdir(outside)).toEqual(['secret'])
    expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('SECRET')
  }

  it('does not follow a link to a file, whatever is asked of it', async () => {
    await symlink(join(outside, 'secret'), join(root, 'link'))
    const tree = await grant()
    await expect(tree.read('link')).rejects.toEqual(denied)
    await expect(tree.stat('link')).rejects.toEqual(denied)
    await expect(tree.write('link', encode('x'))).rejects.toEqual(denied)
    await expect(tree.remove('link')).rejects.toEqual(denied)
    expect(await tree.list('.')).toEqual([])
    await nothingHappenedOutside()
  })

  it('does not follow a link to a directory, absolute, relative, or to a place inside', async () => {
    await mkdir(join(root, 'inside'))
    await writeFile(join(root, 'inside', 'secret'), 'SECRET')
    await symlink(outside, join(root, 'absolute'))
    await symlink('../outside', join(root, 'relative'))
    await symlink('inside', join(root, 'within'))
    const tree = await grant()
    for (const name of ['absolute', 'relative', 'within']) {
      await expect(tree.read(`${name}/secret`)).rejects.toEqual(denied)
      await expect(tree.list(name)).rejects.toEqual(denied)
      await expect(tree.write(`${name}/new`, encode('x'))).rejects.toEqual(denied)
      await expect(tree.remove(`${name}/secret`)).rejects.toEqual(denied)
      await expect(tree.mkdir(`${name}/new`)).rejects.toEqual(
        expect.objectContaining({ name: 'CaissonError' }),
      )
    }
    await nothingHappenedOutside()
  })

  it('does not follow a dangling link when it writes', async () => {
    await symlink(join(outside, 'new'), join(root, 'dangling'))
    const tree = await grant()
    await expect(tree.write('dangling', encode('x'))).rejects.toEqual(denied)
    await nothingHappenedOutside()
  })

  it('reads and writes nothing outside while a directory is swapped for a link again and again', async () => {
    await mkdir(join(root, 'dir'))
    await writeFile(join(root, 'dir', 'secret'), 'inside')
    await symlink(outside, join(base, 'link'))
    const tree = await grant()
    let swapping = true
    const swapper = (async () => {
      while (swapping) {
        await rename(join(root, 'dir'), join(base, 'dir'))
        await rename(join(base, 'link'), join(root, 'dir'))
        await rename(join(root, 'dir'), join(base, 'link'))
        await rename(join(base, 'dir'), join(root, 'dir'))
      }
    })()
    const seen = new Set<string>()
    for (let round = 0; round < 150; round++) {
      await Promise.allSettled([
        tree.read('dir/secret').then((bytes) => seen.add(decode(bytes))),
        // Writing is held without a window only where names are anchored (see checked-directory.node.ts).
        ...(lookup === 'anchored' ? [tree.write('dir/written', encode('x'))] : []),
      ])
    }
    swapping = false
    await swapper
    expect(seen.has('SECRET')).toBe(false)
    await nothingHappenedOutside()
  })

  it('replaces a hard link instead of writing through it', async () => {
    await link(join(outside, 'secret'), join(root, 'hard'))
    const tree = await grant()
    await tree.write('hard', encode('x'))
    await nothingHappenedOutside()
  })

  it.runIf(process.platform === 'linux')('neither waits for a pipe nor touches a device', async () => {
    execFileSync('mkfifo', [join(root, 'pipe')])
    await symlink('/dev/zero', join(root, 'zero'))
    await symlink('/proc/self', join(root, 'self'))
    const tree = await grant()
    await expect(tree.read('pipe')).rejects.toEqual(denied)
    await expect(tree.write('pipe', encode('x'))).rejects.toEqual(denied)
    await expect(tree.stat('pipe')).rejects.toEqual(denied)
    await expect(tree.read('zero')).rejects.toEqual(denied)
    await expect(tree.read('self/environ')).rejects.toEqual(denied)
    expect(await tree.list('.')).toEqual([])
  })

  it.runIf(process.platform === 'linux')(
    'waits for no pipe that was swapped in after the check',
    async () => {
      await writeFile(join(root, 'file'), '1')
      execFileSync('mkfifo', [join(base, 'pipe')])
      const tree = await grant()
      let swapping = true
      const swapper = (async () => {
        while (swapping) {
          await rename(join(root, 'file'), join(base, 'file'))
          await rename(join(base, 'pipe'), join(root, 'file'))
          await rename(join(root, 'file'), join(base, 'pipe'))
          await rename(join(base, 'file'), join(root, 'file'))
        }
      })()
      const outcomes = new Set<string>()
      for (let round = 0; round < 100; round++) {
        const outcome = await tree.read('file').then(decode, codeOf)
        outcomes.add(outcome)
      }
      swapping = false
      await swapper
      for (const outcome of outcomes) expect(['1', 'path_denied', 'not_found']).toContain(outcome)
    },
  )

  it('leaves the old file whole when a write fails, and no temporary file', async () => {
    await writeFile(join(root, 'a'), 'old')
    const tree = await grant({ quota: { totalBytes: 5 } })
    await expect(tree.write('a', encode('123456789'))).rejects.toMatchObject({ code: 'quota_exceeded' })
    expect(await readFile(join(root, 'a'), 'utf8')).toBe('old')
    expect(await readdir(root)).toEqual(['a'])
  })

  it('hides and refuses what a crash left behind', async () => {
    await writeFile(join(root, '.caisson-left-over'), 'half')
    const tree = await grant()
    expect(await tree.list('.')).toEqual([])
    await expect(tree.read('.caisson-left-over')).rejects.toEqual(denied)
  })

  it('survives a flood of operations with few descriptors, and loses none', async () => {
    const tree = await grant({ quota: { operations: 4 } })
    await tree.mkdir('d')
    await Promise.all(Array.from({ length: 100 }, (_, index) => tree.write(`d/${index}`, encode('1'))))
    let most = 0
    const count = async (): Promise<void> => {
      if (!existsSync('/proc/self/fd')) return
      most = Math.max(most, (await readdir('/proc/self/fd')).length)
    }
    await count()
    const before = most
    const reads = Array.from({ length: 400 }, async (_, index) => {
      if (index % 50 === 0) await count()
      return tree.read(`d/${index % 100}`)
    })
    expect(await Promise.all(reads)).toHaveLength(400)
    // 4 operations with 3 descriptors each, the one with which we count, and a few of the test runner's.
    expect(most - before).toBeLessThanOrEqual(4 * 3 + 8)
  })

  it('refuses, not crashes, beyond the line of waiting operations', async () => {
    await writeFile(join(root, 'a'), '1')
    const tree = await grant({ quota: { operations: 1 } })
    const results = await Promise.allSettled(Array.from({ length: 1_200 }, () => tree.read('a')))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1_001)
    const rejected = results.find(({ status }) => status === 'rejected')
    expect(rejected).toMatchObject({ reason: { code: 'quota_exceeded' } })
  })

  it('shows no path of the host in its messages', async () => {
    await symlink(outside, join(root, 'link'))
    const tree = await grant()
    for (const path of ['none', 'link/x', 'none/x', '..', 'link']) {
      const error = await tree.read(path).catch((thrown: unknown) => thrown)
      expect((error as Error).message).not.toContain(base)
    }
  })

  it('is not granted for writing where it overlaps a protected path, however that is spelled', async () => {
    await mkdir(join(root, 'sub', 'store'), { recursive: true })
    await symlink(join(root, 'sub'), join(base, 'alias'))
    const overlap = expect.objectContaining({ code: 'invalid_argument' })
    const protectedPaths = [
      root,
      join(root, 'sub', 'store'),
      join(base, 'alias', 'store'),
      join(root, 'sub', '..', '..', 'root', 'sub'),
      join(root, 'not', 'there', 'yet'),
      base,
    ]
    for (const path of protectedPaths) {
      await expect(grant({ protect: [outside, path] })).rejects.toEqual(overlap)
      await expect(grant({ root: join(base, 'alias'), protect: [join(base, 'alias')] })).rejects.toEqual(
        overlap,
      )
    }
    await grant({ protect: [outside, join(base, 'elsewhere', 'root')] })
    await grant({ protect: [root], writable: false })
  })

  it('stays the directory that it was when its path is taken over', async () => {
    await writeFile(join(root, 'a'), 'mine')
    const tree = await grant()
    await rename(root, join(base, 'moved'))
    await symlink(outside, root)
    const outcome = await tree.read('secret').catch(codeOf)
    expect(['not_found', 'path_denied']).toContain(outcome)
    if (lookup === 'anchored') expect(decode(await tree.read('a'))).toBe('mine')
    await tree.write('new', encode('x')).catch(() => {})
    await nothingHappenedOutside()
    await unlink(root)
    await rename(join(base, 'moved'), root)
  })
})
