/** Checkpoints to bytes and back, over both sets of ports. */
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { PAGE_BYTES, type PageChange, PageTree } from '../page-tree.ts'
import type { CheckpointHeader, NewCheckpoint } from './checkpoint.ts'
import {
  ALL_KEYS,
  BASE,
  encodeRun,
  headerOf,
  heapPage,
  keyOf,
  type Link,
  loaderOf,
  MAC_KEYS,
  PORTS,
  ports,
  randomNumbers,
  STATE,
  stepped,
} from './container.testkit.ts'
import { decodeChain } from './decode-chain.ts'
import { decodeCheckpoint } from './decode-checkpoint.ts'
import { encodeCheckpoint } from './encode-checkpoint.ts'
import { inspectCheckpoint } from './inspect-checkpoint.ts'

function checkpointOf(pages: PageTree, changes: Partial<CheckpointHeader> = {}): NewCheckpoint {
  return { header: headerOf(changes), state: STATE, pages }
}

const last = (run: readonly Link[]): Link => run.at(-1) as Link

describe.each(PORTS)('a checkpoint written and read with the ports of %s', (_, ports) => {
  it.each([
    ['plain', {}, 'plain'],
    ['authenticated', MAC_KEYS, 'plain'],
    ['encrypted, with a secret', ALL_KEYS, 'secret'],
  ] as const)('is what it was: %s', async (_name, keys, label) => {
    const pages = stepped(BASE, randomNumbers(1))
    const checkpoint = checkpointOf(pages, { label })
    const encoded = await encodeCheckpoint(checkpoint, { pages: BASE }, { ports, keys })
    const decoded = await decodeCheckpoint(encoded.bytes, { pages: BASE }, { ports, keys })
    expect(decoded.header).toEqual({ ...checkpoint.header, root: pages.root() })
    expect(encoded.header).toEqual(decoded.header)
    expect(decoded.state).toEqual(STATE)
    expect(decoded.pages.root()).toBe(pages.root())
  })

  it('is what it was when its state and memory are many times a section', async () => {
    const next = randomNumbers(2)
    const pages = PageTree.empty.with(
      Array.from(
        { length: 400 },
        (_, i): PageChange => [3 * i, i % 5 === 0 ? noise(next) : heapPage(3 * i, next)],
      ),
    )
    const state = Uint8Array.from({ length: 700_001 }, (_, i) => i % 251)
    const header = headerOf({ memoryBytes: 16 * 1_048_576 })
    const encoded = await encodeCheckpoint(
      { header, state, pages },
      { pages: BASE },
      { ports, keys: ALL_KEYS },
    )
    const decoded = await decodeCheckpoint(encoded.bytes, { pages: BASE }, { ports, keys: ALL_KEYS })
    expect(decoded.pages.root()).toBe(pages.root())
    expect(Buffer.compare(decoded.state, state)).toBe(0)
    expect(encoded.bytes.length).toBeLessThan(0.65 * 400 * PAGE_BYTES)
  })

  it('is what it was at the end of a chain', async () => {
    const run = await encodeRun(12, { keys: ALL_KEYS })
    const decoded = await decodeChain(last(run).bytes, loaderOf(run), BASE, { ports, keys: ALL_KEYS })
    expect(decoded.header).toEqual(last(run).header)
    expect(decoded.pages.root()).toBe(last(run).pages.root())
    expect(decoded.state).toEqual(last(run).state)
    expect(decoded.chain).toEqual(run.map(({ id }) => id).reverse())
  })

  it('can be read with the ports of another platform', async () => {
    const [, [, others]] = PORTS as [unknown, (typeof PORTS)[number]]
    const { bytes } = await encodeCheckpoint(
      checkpointOf(PageTree.empty.with([[4, heapPage(4, randomNumbers(4))]])),
      { pages: BASE },
      { ports: others, keys: ALL_KEYS },
    )
    await expect(decodeCheckpoint(bytes, { pages: BASE }, { ports, keys: ALL_KEYS })).resolves.toBeDefined()
  })
})

/** A page that nothing can be saved of. */
function noise(next: () => number): Uint8Array {
  return Uint8Array.from({ length: PAGE_BYTES }, () => next() >>> 24)
}

describe('a container', () => {
  it('carries any change of memory: pages that appear, vanish, or change in any bytes', async () => {
    const page = fc
      .array(fc.tuple(fc.nat(PAGE_BYTES - 1), fc.integer({ min: 1, max: 255 })), {
        minLength: 1,
        maxLength: 20,
      })
      .map((bytes) => {
        const page = new Uint8Array(PAGE_BYTES)
        for (const [at, value] of bytes) page[at] = value
        return page
      })
    const changes = fc.dictionary(fc.integer({ min: 0, max: 191 }).map(String), fc.option(page), {
      maxKeys: 8,
    })
    const tree = changes.map((pages) =>
      PageTree.empty.with(Object.entries(pages).map(([i, page]) => [Number(i), page ?? undefined] as const)),
    )
    await fc.assert(
      fc.asyncProperty(
        tree,
        tree,
        fc.uint8Array(),
        fc.uint8Array(),
        async (before, pages, state, laterState) => {
          const first = await encodeCheckpoint(
            { header: headerOf(), state, pages: before },
            { pages: BASE },
            { ports },
          )
          const second = await encodeCheckpoint(
            { header: headerOf({ parent: first.id, links: 1, sequence: 2 }), state: laterState, pages },
            { pages: before, state },
            { ports },
          )
          const decoded = await decodeChain(second.bytes, loaderOf([first]), BASE, { ports })
          expect(decoded.pages.root()).toBe(pages.root())
          expect(decoded.state).toEqual(laterState)
        },
      ),
      { numRuns: 60 },
    )
  })

  it('is small for a small step: what changed is said word by word', async () => {
    const run = await encodeRun(5, { keys: MAC_KEYS })
    // 11 pages with 30 changed words each, an eighth of them random.
    for (const { bytes } of run.slice(1)) expect(bytes.length).toBeLessThan(1_700)
  })

  it('costs next to nothing where nothing changed', async () => {
    const [first] = (await encodeRun(1)) as [Link]
    const header = headerOf({ parent: first.id, links: 1, sequence: 2 })
    const { bytes } = await encodeCheckpoint({ ...first, header }, first, { ports })
    expect(bytes.length).toBeLessThan(300)
  })

  it('has the digest of its own bytes as id, and at its end', async () => {
    const [{ id, bytes }] = (await encodeRun(1)) as [Link]
    const digest = ports.hash.sha256(bytes.subarray(0, -32))
    expect(bytes.subarray(-32)).toEqual(digest)
    expect(id).toBe(`sha256:${Buffer.from(digest).toString('hex')}`)
  })

  it('shows nothing of an encrypted guest but its header', async () => {
    const secret = new TextEncoder().encode('correct horse battery staple')
    const page = new Uint8Array(PAGE_BYTES)
    page.set(secret, 100)
    const { bytes } = await encodeCheckpoint(
      { header: headerOf({ label: 'secret' }), state: secret, pages: BASE.with([[50, page]]) },
      { pages: BASE },
      { ports, keys: ALL_KEYS },
    )
    expect(Buffer.from(bytes).includes('correct horse')).toBe(false)
    expect(Buffer.from(bytes).includes('tenant-1')).toBe(true)
  })

  it('never uses a nonce twice', async () => {
    const [first, second] = [await encodeRun(1, { keys: ALL_KEYS }), await encodeRun(1, { keys: ALL_KEYS })]
    expect(first[0]?.id).not.toBe(second[0]?.id)
  })

  it('is read with a key that is no longer the current one', async () => {
    const run = await encodeRun(2, { keys: ALL_KEYS })
    const keys = {
      mac: { current: keyOf('mac-2', 3), older: [keyOf('mac-1', 1)] },
      encryption: { current: keyOf('enc-2', 4), older: [keyOf('enc-1', 2)] },
    }
    const decoded = await decodeChain(last(run).bytes, loaderOf(run), BASE, { ports, keys })
    expect(decoded.header).toEqual(last(run).header)
  })

  it('leaves the checkpoint that it was written against as it was', async () => {
    const [first, second] = (await encodeRun(2)) as [Link, Link]
    const before = await decodeCheckpoint(first.bytes, { pages: BASE }, { ports })
    const contents = [...before.pages.pages()].map(([index, page]) => [index, page.slice()] as const)
    await decodeCheckpoint(second.bytes, before, { ports })
    expect(PageTree.empty.with(contents).root()).toBe(before.pages.root())
    expect(before.state).toEqual(first.state)
  })

  it('is inspected without keys and parents', async () => {
    const run = await encodeRun(2, { keys: ALL_KEYS })
    const { id, bytes, header, state } = last(run)
    await expect(inspectCheckpoint(bytes, { ports })).resolves.toEqual({
      ...header,
      id,
      fileBytes: bytes.length,
      stateBytes: state.length,
      pages: expect.any(Number) as number,
      macKey: 'mac-1',
      encryptionKey: 'enc-1',
    })
  })
})

describe('writing a checkpoint', () => {
  const write = (changes: Partial<CheckpointHeader>, options = {}): Promise<unknown> =>
    encodeCheckpoint(checkpointOf(BASE, changes), { pages: BASE }, { ports, ...options })

  it('refuses a secret one without a key to encrypt it', async () => {
    await expect(write({ label: 'secret' }, { keys: MAC_KEYS })).rejects.toMatchObject({
      code: 'encryption_required',
    })
  })

  it.each([
    ['links without a parent', { links: 1 }],
    ['a parent without links', { parent: BASE.root() }],
    ['another base image', { base: PageTree.empty.root() }],
    ['half a page of memory', { memoryBytes: 1_000 }],
    ['a memory that is smaller than its pages', { memoryBytes: 65_536 }],
    ['a lone surrogate', { tenant: 'a\ud800' }],
    ['a text that is too long', { run: 'é'.repeat(2_049) }],
    ['a time that is none', { takenAtMs: Number.NaN }],
    ['a sequence that is none', { sequence: -1 }],
    ['a parent that is no digest', { links: 1, parent: 'sha256:12' }],
    ['a label that is none', { label: 'public' }],
  ])('refuses %s', async (_, changes) => {
    await expect(write(changes as Partial<CheckpointHeader>)).rejects.toMatchObject({
      code: 'invalid_argument',
    })
  })

  it.each([
    ['maxMemoryBytes', {}, { maxMemoryBytes: 65_536 }],
    ['maxStateBytes', {}, { maxStateBytes: 10 }],
    ['maxLinks', { links: 3, parent: BASE.root() }, { maxLinks: 2 }],
    ['maxFileBytes', {}, { maxFileBytes: 100 }],
  ])('refuses what could not be read within %s', async (limit, changes, limits) => {
    await expect(write(changes, { limits })).rejects.toMatchObject({
      code: 'checkpoint_too_large',
      details: { limit },
    })
  })

  it('takes texts in any script, and times before 1970', async () => {
    const header = headerOf({ tenant: 'Zoë 日本 🦊', principal: '', takenAtMs: -0.5 })
    const { bytes } = await encodeCheckpoint(
      { header, state: STATE, pages: BASE },
      { pages: BASE },
      { ports },
    )
    await expect(inspectCheckpoint(bytes, { ports })).resolves.toMatchObject({
      tenant: 'Zoë 日本 🦊',
      takenAtMs: -0.5,
    })
  })
})

describe('a large guest', () => {
  it('is written and read in steps, between which the host has its turns', async () => {
    const next = randomNumbers(9)
    const pages = PageTree.empty.with(
      Array.from({ length: 2_048 }, (_, i): PageChange => [i, i % 3 === 0 ? noise(next) : heapPage(i, next)]),
    )
    const pause = vi.fn(ports.pause)
    const paced = { ports: { ...ports, pause } }
    const header = headerOf({ memoryBytes: 8_388_608 })
    const { bytes } = await encodeCheckpoint({ header, state: STATE, pages }, { pages: BASE }, paced)
    // 8 MiB to compare, 8 MiB to digest, and the file: a turn for each 128 KiB.
    expect(pause.mock.calls.length).toBeGreaterThan(2 * 63)
    pause.mockClear()
    await decodeCheckpoint(bytes, { pages: BASE }, paced)
    expect(pause.mock.calls.length).toBeGreaterThan(2 * 63)
  })
})
