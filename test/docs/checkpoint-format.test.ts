/** docs/checkpoint-format.md is enough to read checkpoints, and says what the code does. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { CheckpointHeader } from '../../src/snapshot/container/checkpoint.ts'
import type { CheckpointKeys } from '../../src/snapshot/container/checkpoint-keys.ts'
import { DEFAULT_CHECKPOINT_LIMITS } from '../../src/snapshot/container/checkpoint-limits.ts'
import { ALL_KEYS, BASE, encodeRun, loaderOf, ports } from '../../src/snapshot/container/container.testkit.ts'
import { FORMAT_VERSION } from '../../src/snapshot/container/container-format.ts'
import { decodeChain } from '../../src/snapshot/container/decode-chain.ts'
import { PAGE_BYTES, PageTree } from '../../src/snapshot/page-tree.ts'
import { DocumentedReader, type ReaderInput } from './checkpoint-reader.ts'
import { ROOT } from './documented-pages.ts'
import { tableRows } from './markdown-table.ts'

const page = readFileSync(join(ROOT, 'docs/checkpoint-format.md'), 'utf8')
const reader = new DocumentedReader(page)
const FIXTURES = join(ROOT, 'test/fixtures/checkpoints')
const ORDER = ['whole', 'delta', 'encrypted'] as const

interface Expected {
  readonly keys: Record<'mac' | 'encryption', { readonly id: string; readonly hex: string }>
  readonly basePages: readonly number[]
  readonly checkpoints: Record<
    string,
    {
      readonly id: string
      readonly header: CheckpointHeader
      readonly state: string
      readonly memorySha256: string
    }
  >
}

function fixtureOf(version: string): {
  readonly expected: Expected
  readonly base: ReadonlyMap<number, Buffer>
  readonly file: (name: string) => Buffer
} {
  const file = (name: string): Buffer => readFileSync(join(FIXTURES, version, name))
  const expected = JSON.parse(file('expected.json').toString('utf8')) as Expected
  const pages = file('base.bin')
  const base = new Map(
    expected.basePages.map((index, i) => [index, pages.subarray(i * PAGE_BYTES, (i + 1) * PAGE_BYTES)]),
  )
  return { expected, base, file: (name) => file(`${name}.checkpoint`) }
}

function memorySha256(pages: Iterable<readonly [number, Uint8Array]>, memoryBytes: number): string {
  const memory = new Uint8Array(memoryBytes)
  for (const [index, bytes] of pages) memory.set(bytes, index * PAGE_BYTES)
  return Buffer.from(ports.hash.sha256(memory)).toString('hex')
}

const versions = readdirSync(FIXTURES)

describe('a reader made from docs/checkpoint-format.md', () => {
  it('reads the checkpoints of the current version as they were written', () => {
    const { expected, base, file } = fixtureOf(`v${FORMAT_VERSION}`)
    const keys = new Map(Object.values(expected.keys).map(({ id, hex }) => [id, Buffer.from(hex, 'hex')]))
    let parent: ReaderInput['parent'] = { pages: base, state: Buffer.of() }
    for (const name of ORDER) {
      const read = reader.read(file(name), { keys, parent })
      const { id, header, state, memorySha256: memory } = expected.checkpoints[name] ?? expect.fail(name)
      expect(read.id).toBe(id)
      expect(read.header).toMatchObject(header)
      expect(read.state.toString('utf8')).toBe(state)
      expect(memorySha256(read.pages, header.memoryBytes)).toBe(memory)
      parent = read
    }
    // The fixtures are worth keeping: they have all that the format has.
    expect([...reader.met].sort()).toEqual([...reader.named].sort())
  })

  it('reads what the library writes', async () => {
    const keys = new Map(
      [ALL_KEYS.mac, ALL_KEYS.encryption].map((ring) => [
        ring?.current.id ?? '',
        Buffer.from(ring?.current.bytes ?? []),
      ]),
    )
    const pagesOf = (tree: PageTree): Map<number, Buffer> =>
      new Map([...tree.pages()].map(([index, bytes]) => [index, Buffer.from(bytes)]))
    let parent: ReaderInput['parent'] = { pages: pagesOf(BASE), state: Buffer.of() }
    for (const { bytes, header, pages, state } of await encodeRun(8, { keys: ALL_KEYS, seed: 3 })) {
      const read = reader.read(Buffer.from(bytes), { keys, parent })
      expect(read.header).toMatchObject(header)
      expect(read.state.equals(state)).toBe(true)
      expect(reader.root(pagesOf(pages))).toBe(header.root)
      parent = read
    }
  })

  it('finds the root of nothing', () => {
    expect(reader.root(new Map())).toBe(PageTree.empty.root())
  })
})

describe.each(versions)('the checkpoints of format %s', (version) => {
  const { expected, base, file } = fixtureOf(version)
  const tree = PageTree.empty.with([...base].map(([index, bytes]) => [index, new Uint8Array(bytes)] as const))
  const key = (use: 'mac' | 'encryption'): CheckpointKeys['mac'] => ({
    current: { id: expected.keys[use].id, bytes: Buffer.from(expected.keys[use].hex, 'hex') },
  })
  const keys = { mac: key('mac'), encryption: key('encryption') } as CheckpointKeys
  const load = loaderOf(
    ORDER.map((name) => ({ id: expected.checkpoints[name]?.id ?? '', bytes: file(name) })),
  )

  it.each(ORDER)('can still be read: %s', async (name) => {
    const read = await decodeChain(file(name), load, tree, { ports, keys })
    const { header, state, memorySha256: memory } = expected.checkpoints[name] ?? expect.fail(name)
    expect(read.header).toEqual(header)
    expect(new TextDecoder().decode(read.state)).toBe(state)
    expect(memorySha256(read.pages.pages(), header.memoryBytes)).toBe(memory)
  })
})

describe('docs/checkpoint-format.md', () => {
  it('has a fixture of every version up to the current one', () => {
    expect(versions).toEqual(Array.from({ length: FORMAT_VERSION }, (_, i) => `v${i + 1}`))
  })

  it('has the limits and their defaults', () => {
    const limits = tableRows(page, 'Reading').filter(
      ([name = '', value = '']) => name.startsWith('`max') && /^[\d,]+$/.test(value),
    )
    expect(
      Object.fromEntries(
        limits.map(([name = '', value = '']) => [
          name.replaceAll('`', ''),
          Number(value.replaceAll(',', '')),
        ]),
      ),
    ).toEqual(DEFAULT_CHECKPOINT_LIMITS)
  })

  it('names every reason for which a checkpoint is damaged', () => {
    const source = readFileSync(join(ROOT, 'src/snapshot/container/refusals.ts'), 'utf8')
    const union = source.slice(
      source.indexOf('type DamageReason'),
      source.indexOf('/** The bytes contradict'),
    )
    const reasons = [...union.matchAll(/\| '(\w+)'/g)].map(([, reason]) => reason)
    const named = tableRows(page, 'Reading')
      .filter((row) => row[2]?.startsWith('`corrupted`'))
      .flatMap((row) => [...(row[2] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name))
    expect(new Set(named.filter((name) => name !== 'corrupted'))).toEqual(new Set(reasons))
  })
})
