import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { inputIssues, invokeBinding } from '../invoke-binding.testkit.ts'
import { createFileCapabilities } from './file-capabilities.ts'
import { describeFileTree, type FileTreeSetup } from './file-tree.contract.ts'
import { createMemoryFileTree } from './memory-file-tree.ts'
import { type DirectoryFileTree, openDirectoryFileTree } from './node/directory-file-tree.node.ts'

const roots: string[] = []
const trees: DirectoryFileTree[] = []

async function openReal(lookup: 'anchored' | 'checked', setup: FileTreeSetup): Promise<DirectoryFileTree> {
  const root = await mkdtemp(join(tmpdir(), 'caisson-files-'))
  roots.push(root)
  for (const [path, content] of Object.entries(setup.files ?? {})) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), content)
  }
  const { writable = true, quota = {} } = setup
  const tree = await openDirectoryFileTree({ root, writable, quota, lookup })
  trees.push(tree)
  return tree
}

afterAll(async () => {
  for (const tree of trees) await tree[Symbol.asyncDispose]()
  for (const root of roots) await rm(root, { recursive: true })
})

describeFileTree('memory', async (setup = {}) => createMemoryFileTree(setup))
describeFileTree('directory, checked', (setup = {}) => openReal('checked', setup))
if (process.platform === 'linux') {
  describeFileTree('directory, anchored', (setup = {}) => openReal('anchored', setup))
}

describe('files capabilities', () => {
  const open = (write = true) =>
    createFileCapabilities({ tree: createMemoryFileTree({ files: { 'a.txt': 'ä', bin: '\ufeffx' } }), write })

  it('read text and bytes, and write both', async () => {
    const files = open()
    expect(await invokeBinding(files, 'files.readText', { path: 'a.txt' })).toBe('ä')
    expect(await invokeBinding(files, 'files.read', { path: 'a.txt' })).toEqual(Uint8Array.of(0xc3, 0xa4))
    expect(await invokeBinding(files, 'files.read', { path: 'a.txt', offset: 1 })).toHaveLength(1)
    expect(await invokeBinding(files, 'files.write', { path: 'b', data: 'ö' })).toEqual({ bytes: 2 })
    await invokeBinding(files, 'files.write', { path: 'b', data: Uint8Array.of(0xff) })
    await expect(invokeBinding(files, 'files.readText', { path: 'b' })).rejects.toMatchObject({
      code: 'invalid_result',
    })
    expect(inputIssues(files, 'files.write', { path: 'b', data: 7 })).toContain('expected a string')
  })

  it('list, stat, make and remove', async () => {
    const files = open()
    expect(await invokeBinding(files, 'files.mkdir', { path: 'd/e' })).toBe(null)
    expect(await invokeBinding(files, 'files.stat', { path: 'd' })).toMatchObject({ kind: 'directory' })
    expect(await invokeBinding(files, 'files.stat', { path: 'none' })).toBe(null)
    expect(await invokeBinding(files, 'files.remove', { path: 'd/e' })).toBe(null)
    expect(await invokeBinding(files, 'files.list', { path: 'd' })).toEqual([])
  })

  it.each([
    ['memory', () => Promise.resolve(createMemoryFileTree())],
    ['a real directory', () => openReal('checked', {})],
  ])('say what to do where the directory of a new file is missing: %s', async (_name, openTree) => {
    const files = createFileCapabilities({ tree: await openTree(), write: true })
    const write = () => invokeBinding(files, 'files.write', { path: './a/b/c.txt', data: 'x' })
    await expect(write()).rejects.toMatchObject({
      code: 'not_found',
      message: 'There is no directory "a/b"; make it first: await files.mkdir({ path: "a/b" }).',
      details: { directory: 'a/b' },
    })
    await invokeBinding(files, 'files.mkdir', { path: 'a/b' })
    expect(await write()).toEqual({ bytes: 1 })
  })

  it('are refused at once over what is no tree', () => {
    const refusal = (tree: unknown, more: object = {}): unknown => {
      try {
        return createFileCapabilities({ tree, ...more } as never)
      } catch (error) {
        return error
      }
    }
    const wrong: readonly unknown[] = [undefined, null, './data', {}, { ...createMemoryFileTree(), list: 1 }]
    for (const tree of wrong) expect(refusal(tree)).toMatchObject({ code: 'invalid_argument' })
    expect(refusal(Promise.resolve(createMemoryFileTree()))).toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('await it first'),
    })
    expect(refusal(createMemoryFileTree(), { writable: true })).toMatchObject({
      message: 'There is no option "writable". Options: tree, write.',
    })
  })

  it('offer nothing that writes unless asked', () => {
    const names = open(false).map(({ name, effect }) => `${name} ${effect}`)
    expect(names).toEqual(['files.read read', 'files.readText read', 'files.list read', 'files.stat read'])
  })
})

describe('an opened directory', () => {
  it('is refused where it is none, or no storage', async () => {
    const refused = expect.objectContaining({ code: 'invalid_argument' })
    await expect(openDirectoryFileTree({ root: '/nowhere/at/all' })).rejects.toEqual(refused)
    await expect(openDirectoryFileTree({ root: import.meta.filename })).rejects.toEqual(refused)
    if (process.platform === 'linux') {
      await expect(openDirectoryFileTree({ root: '/proc' })).rejects.toEqual(refused)
    }
  })

  it('finishes what is under way when it is disposed, and then refuses', async () => {
    const tree = await openReal('anchored', { files: { a: '1' } })
    const writing = Array.from({ length: 20 }, (_, index) => tree.write(`f${index}`, Uint8Array.of(1)))
    const disposing = tree[Symbol.asyncDispose]()
    await Promise.all([...writing.map((write) => write.catch(() => {})), disposing])
    await expect(tree.read('a')).rejects.toMatchObject({ code: 'disposed' })
    await tree[Symbol.asyncDispose]()
  })

  it('tells the host where a file is', async () => {
    const tree = await openReal('checked', {})
    expect(tree.locate('a/b.txt')).toBe(join(roots.at(-1) ?? '', 'a', 'b.txt'))
  })
})
