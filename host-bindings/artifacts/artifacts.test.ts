import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isFileName } from '../files/file-path.ts'
import type { FileQuota } from '../files/file-quota.ts'
import type { FileTree } from '../files/file-tree.ts'
import { createMemoryFileTree } from '../files/memory-file-tree.ts'
import { type DirectoryFileTree, openDirectoryFileTree } from '../files/node/directory-file-tree.node.ts'
import { invokeBinding } from '../invoke-binding.testkit.ts'
import { createArtifactCapabilities } from './artifact-capabilities.ts'
import { artifactName } from './artifact-name.ts'
import { createArtifactStore } from './artifact-store.ts'

const ABC = 'sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const report = { name: 'report.html', mediaType: 'text/html', data: encode('abc') }

const base = await mkdtemp(join(tmpdir(), 'caisson-artifacts-'))
const open: DirectoryFileTree[] = []
afterAll(async () => {
  for (const tree of open) await tree[Symbol.asyncDispose]()
  await rm(base, { recursive: true })
})

async function openRealTree(quota: Partial<FileQuota> = {}): Promise<FileTree> {
  const root = await mkdtemp(join(base, 'store-'))
  const tree = await openDirectoryFileTree({ root, writable: true, quota })
  open.push(tree)
  return tree
}

describe.each<[string, (quota?: Partial<FileQuota>) => Promise<FileTree>]>([
  ['memory', async (quota = {}) => createMemoryFileTree({ quota })],
  ['a directory', openRealTree],
])('an artifact store in %s', (_name, openTree) => {
  it('1: addresses by content and keeps the same thing once', async () => {
    const store = createArtifactStore({ tree: await openTree() })
    const first = await store.put(report)
    expect(first).toMatchObject({ digest: ABC, name: 'report.html', mediaType: 'text/html', bytes: 3 })
    expect(await store.put(report)).toEqual(first)
    expect(await store.put({ ...report, name: 'other.html' })).toMatchObject({ digest: ABC })
    expect(store.list().map(({ name }) => name)).toEqual(['report.html', 'other.html'])
    expect(await store.read(first)).toEqual(report.data)
  })

  it('4: keeps the first of what it may, and nothing of what it refused', async () => {
    const few = createArtifactStore({ tree: await openTree(), count: 1 })
    // The first is the slower one to digest.
    const puts = ['a'.repeat(1e6), 'b'].map((text) => few.put({ ...report, data: encode(text) }))
    const results = await Promise.allSettled(puts)
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect(few.list()).toHaveLength(1)
    const small = createArtifactStore({ tree: await openTree({ totalBytes: 2 }) })
    await expect(small.put(report)).rejects.toMatchObject({ code: 'quota_exceeded' })
    expect(small.list()).toEqual([])
  })
})

describe('an artifact store in a directory', () => {
  let tree: FileTree
  beforeAll(async () => {
    tree = await openRealTree()
  })

  it('tells the host where the file is, and the guest not', async () => {
    const told: (string | undefined)[] = []
    const store = createArtifactStore({ tree, onStored: ({ path }) => told.push(path) })
    const capabilities = createArtifactCapabilities({ store })
    const args = { name: '../../etc/report.html', mediaType: 'text/html', data: '<p>ä' }
    const written = await invokeBinding(capabilities, 'artifacts.write', args)
    expect(written).toMatchObject({ name: 'etc-report.html', bytes: 5 })
    expect(written).not.toHaveProperty('path')
    expect(await invokeBinding(capabilities, 'artifacts.list', {})).toEqual([written])
    expect(await readFile(told[0] ?? '', 'utf8')).toBe('<p>ä')
  })
})

describe('artifact names', () => {
  it.each([
    ['report.html', 'report.html'],
    ['Größe 2026.csv', 'Größe-2026.csv'],
    ['../../etc/passwd', 'etc-passwd'],
    ['.htaccess', 'htaccess'],
    ['NUL.txt', 'artifact-NUL.txt'],
    ['\u001b[31mred\u202egnp.exe', '31mred-gnp.exe'],
    ['<img src=x onerror=alert(1)>.svg', 'img-src-x-onerror-alert-1-.svg'],
    ['...', 'artifact'],
    [`${'x'.repeat(300)}.html`, `${'x'.repeat(55)}.html`],
    ['\u{20000}'.repeat(90), '\u{20000}'.repeat(60)],
    [`${'x'.repeat(54)}.${'y'.repeat(99)}.txt`, `${'x'.repeat(54)}.y.txt`],
  ])('%j becomes %j', (given, stored) => {
    expect(artifactName(given)).toBe(stored)
  })

  it('2: are names that every file tree takes, whatever was given', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (given) => {
        const name = artifactName(given)
        expect(isFileName(name)).toBe(true)
        expect(name).not.toMatch(/^\.|[<>:"/\\|?*\s]|\.$/u)
        expect(artifactName(name)).toBe(name)
      }),
      { numRuns: 1_000 },
    )
  })
})
