/**
 * Attacks on checkpoints as bytes: whatever lies in a store or is handed over, it is refused with a typed reason before
 * it can do anything, or it is exactly what somebody with the key has written.
 */
import { deflateRawSync } from 'node:zlib'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { CaissonError } from '../../src/base/errors.ts'
import type { CheckpointExpectation, DecodeOptions } from '../../src/snapshot/container/checkpoint.ts'
import type { CheckpointKeys } from '../../src/snapshot/container/checkpoint-keys.ts'
import {
  ALL_KEYS,
  BASE,
  encodeOptions,
  encodeRun,
  headerOf,
  keyOf,
  type Link,
  loaderOf,
  MAC_KEYS,
  MEMORY_BYTES,
  ports,
  randomNumbers,
  stepped,
} from '../../src/snapshot/container/container.testkit.ts'
import { FLAG, METHOD, SECTION } from '../../src/snapshot/container/container-format.ts'
import { decodeChain } from '../../src/snapshot/container/decode-chain.ts'
import { decodeCheckpoint } from '../../src/snapshot/container/decode-checkpoint.ts'
import { encodeCheckpoint } from '../../src/snapshot/container/encode-checkpoint.ts'
import { encodeHeader } from '../../src/snapshot/container/header-codec.ts'
import { inspectCheckpoint } from '../../src/snapshot/container/inspect-checkpoint.ts'
import { PAGE_BYTES, PageTree } from '../../src/snapshot/page-tree.ts'
import { BASE_ROOT, type Forgery, forge, resealed, sectionsOf, watchAllocations } from './forged-container.ts'

const CODES = [
  'corrupted',
  'checkpoint_refused',
  'checkpoint_too_large',
  'engine_mismatch',
  'encryption_required',
]

/** The error with which `bytes` are refused; fails if they are not, or by anything untyped. */
async function refusal(promise: Promise<unknown>): Promise<CaissonError> {
  const error: unknown = await promise.then(
    () => expect.fail('accepted'),
    (cause: unknown) => cause,
  )
  if (!CaissonError.is(error)) throw error
  expect(CODES).toContain(error.code)
  return error
}

/** What `bytes` decode to, or the typed error. */
async function attempt(bytes: Uint8Array, link: Tried): Promise<unknown> {
  try {
    return await decodeCheckpoint(bytes, link.parent, encodeOptions(link.keys))
  } catch (error) {
    if (!CaissonError.is(error) || !CODES.includes(error.code)) throw error
    return error
  }
}

interface Tried {
  readonly bytes: Uint8Array
  readonly keys: CheckpointKeys
  readonly parent: { readonly pages: PageTree; readonly state?: Uint8Array }
}

/** A small checkpoint of each kind, with what it is read with. */
async function oneOfEach(): Promise<Readonly<Record<string, Tried>>> {
  const tried = async (keys: CheckpointKeys, depth: number): Promise<Tried> => {
    const next = randomNumbers(5)
    const few = { pages: 3, words: 8, among: 6 }
    let parent: Tried['parent'] = { pages: BASE }
    let bytes = new Uint8Array(0)
    for (let links = 0, id = BASE_ROOT; links <= depth; links++) {
      const pages = stepped(parent.pages, next, few).with([[40 + links, undefined]])
      const state = new TextEncoder().encode(`state of a machine, number ${links}`)
      const header = headerOf({ links, sequence: links + 1, ...(links > 0 && { parent: id }) })
      const encoded = await encodeCheckpoint({ header, state, pages }, parent, encodeOptions(keys))
      if (links === depth) return { bytes: encoded.bytes, keys, parent }
      bytes = encoded.bytes.slice()
      id = encoded.id
      parent = { pages, state }
    }
    return { bytes, keys, parent }
  }
  return {
    'that stands alone, without keys': await tried({}, 0),
    'against a parent, authenticated': await tried(MAC_KEYS, 1),
    'against a parent, encrypted': await tried(ALL_KEYS, 1),
  }
}

const kinds = await oneOfEach()
const baseBefore = BASE.root()

afterEach(() => {
  // Whatever was tried: what it was read against is as it was, byte by byte.
  expect(PageTree.empty.with([...BASE.pages()].map(([i, page]) => [i, page.slice()] as const)).root()).toBe(
    baseBefore,
  )
})

describe.each(Object.entries(kinds))('a checkpoint %s', (_, link) => {
  it('is refused with any byte flipped, in one bit or in all', async () => {
    for (const mask of [0x01, 0x80, 0xff]) {
      for (let at = 0; at < link.bytes.length; at++) {
        const flipped = link.bytes.slice()
        flipped[at] = (flipped[at] as number) ^ mask
        const error = await refusal(decodeCheckpoint(flipped, link.parent, encodeOptions(link.keys)))
        expect(error.code, `byte ${at}`).toBe('corrupted')
      }
    }
  })

  it('is refused cut at any place, and with bytes before, after or between', async () => {
    for (let length = 0; length < link.bytes.length; length++) {
      const cut = link.bytes.subarray(0, length)
      const error = await refusal(decodeCheckpoint(cut, link.parent, encodeOptions(link.keys)))
      expect(error.code, `cut at ${length}`).toBe('corrupted')
      await expect(inspectCheckpoint(cut, { ports })).rejects.toMatchObject({ code: 'corrupted' })
    }
    const { bytes } = link
    for (const at of [0, 16, 200, bytes.length]) {
      const longer = new Uint8Array([...bytes.subarray(0, at), 0, ...bytes.subarray(at)])
      expect(await attempt(longer, link)).toMatchObject({ code: 'corrupted' })
      // Also if whoever added the byte made the digest right.
      expect(await attempt(resealed(longer).bytes, link)).toBeInstanceOf(CaissonError)
    }
  })

  it('is refused with any byte flipped and the digest made right, or says nothing else of the memory', async () => {
    const original = await decodeCheckpoint(link.bytes, link.parent, encodeOptions(link.keys))
    let refused = 0
    for (let at = 0; at < link.bytes.length - 32; at++) {
      const flipped = link.bytes.slice()
      flipped[at] = (flipped[at] as number) ^ 0x10
      const result = await attempt(resealed(flipped).bytes, link)
      if (result instanceof CaissonError) {
        refused += 1
        continue
      }
      // Nobody can tell without a key: but the root still holds the pages.
      expect(link.keys.mac).toBeUndefined()
      expect((result as typeof original).pages.root()).toBe(original.pages.root())
    }
    expect(refused).toBeGreaterThan(link.keys.mac === undefined ? 200 : link.bytes.length - 33)
  })
})

describe('10,000 random mutations', () => {
  /** One or a few changes of any kind: bytes set, swapped, cut out, doubled, filled. */
  function mutated(bytes: Uint8Array, next: () => number): Uint8Array {
    let list = bytes.slice()
    for (let changes = 1 + (next() % 3); changes > 0; changes--) {
      const at = next() % list.length
      const length = Math.min(1 + (next() % 40), list.length - at)
      switch (next() % 6) {
        case 0:
          list[at] = next() % 256
          break
        case 1:
          list.set(
            Uint8Array.from({ length }, () => next() % 256),
            at,
          )
          break
        case 2:
          list.fill([0x00, 0x7f, 0x80, 0xff][next() % 4] as number, at, at + length)
          break
        case 3:
          list = new Uint8Array([...list.subarray(0, at), ...list.subarray(at + length)])
          break
        case 4:
          list = new Uint8Array([...list.subarray(0, at + length), ...list.subarray(at)])
          break
        default:
          list.copyWithin(at, next() % list.length, list.length)
      }
      if (list.length < 64) return bytes.slice()
    }
    return list
  }

  it.each(Object.entries(kinds))(
    'of a checkpoint %s give what was written or a typed refusal',
    async (name, link) => {
      const next = randomNumbers(name.length)
      const outcomes = { refused: 0, accepted: 0 }
      for (let i = 0; i < 3_334; i++) {
        const damaged = mutated(link.bytes, next)
        const bytes = i % 2 === 0 ? damaged : resealed(damaged).bytes
        const result = await attempt(bytes, link)
        outcomes[result instanceof CaissonError ? 'refused' : 'accepted'] += 1
        if (!(result instanceof CaissonError) && link.keys.mac !== undefined) {
          expect(Buffer.compare(bytes, link.bytes), 'accepted with a key, and changed').toBe(0)
        }
      }
      expect(outcomes.refused).toBeGreaterThan(3_000)
    },
  )
})

describe('a forged header', () => {
  const body = new Uint8Array(0)
  it.each<[string, Forgery, string, Record<string, unknown>]>([
    ['a flag of the future', { flags: 8 }, 'corrupted', { reason: 'flags' }],
    ['a parent and no links', { header: { parent: BASE_ROOT } }, 'corrupted', { reason: 'header' }],
    ['links and no parent', { header: { links: 2 } }, 'corrupted', { reason: 'header' }],
    [
      'more pages than its memory',
      { header: { pages: MEMORY_BYTES / PAGE_BYTES + 1 } },
      'corrupted',
      { reason: 'header' },
    ],
    ['a part of a WebAssembly page', { header: { memoryBytes: 4_096 } }, 'corrupted', { reason: 'header' }],
    [
      '2 GB of memory',
      { header: { memoryBytes: 2 ** 31 } },
      'checkpoint_too_large',
      { limit: 'maxMemoryBytes' },
    ],
    [
      '2^53 - 1 bytes of memory',
      { header: { memoryBytes: 2 ** 53 - 1 } },
      'checkpoint_too_large',
      { limit: 'maxMemoryBytes' },
    ],
    [
      '2 GB of state',
      { header: { stateBytes: 2 ** 31 } },
      'checkpoint_too_large',
      { limit: 'maxStateBytes' },
    ],
    [
      'a million links',
      { header: { links: 1_000_000, parent: BASE_ROOT } },
      'checkpoint_too_large',
      { limit: 'maxLinks' },
    ],
    ['a state that is not there', { header: { stateBytes: 1_000 } }, 'corrupted', { reason: 'state' }],
    ['pages that are not there', { header: { pages: 3 } }, 'corrupted', { reason: 'pages' }],
    ['another root', { header: { root: PageTree.empty.root() } }, 'corrupted', { reason: 'root' }],
    [
      'another base image',
      { header: { base: PageTree.empty.root() } },
      'engine_mismatch',
      { differs: 'base' },
    ],
    ['a secret that is not encrypted', { header: { label: 'secret' } }, 'encryption_required', {}],
    [
      'a memory that is smaller than the base image',
      { header: { memoryBytes: 65_536 } },
      'corrupted',
      { reason: 'pages' },
    ],
    [
      'a body that is longer than the file',
      { body, bodyBytes: 2 ** 32 - 1 },
      'corrupted',
      { reason: 'length' },
    ],
    ['no header at all', { headerBytes: body }, 'corrupted', { reason: 'header' }],
    ['a header that goes on', { headerBytes: new Uint8Array(300) }, 'corrupted', { reason: 'header' }],
    [
      '65,535 bytes of header',
      { headerBytes: new Uint8Array(65_535).fill(0xff) },
      'corrupted',
      { reason: 'header' },
    ],
    [
      'encryption without a body',
      { header: { nonce: new Uint8Array(12), encryptionKey: 'enc-1' } },
      'checkpoint_refused',
      { differs: 'encryption' },
    ],
  ])('is refused: %s', async (_, forgery, code, details) => {
    const { bytes } = await forge(forgery)
    const keys = { encryption: ALL_KEYS.encryption } as CheckpointKeys
    const error = await refusal(decodeCheckpoint(bytes, { pages: BASE }, { ports, keys }))
    expect({ code: error.code, details: error.details }).toMatchObject({ code, details })
  })

  it('is taken only where every number is written in one way', async () => {
    const header = { ...headerOf(), stateBytes: 0, pages: 0 }
    const good = encodeHeader(header)
    await expect(decodeCheckpoint((await forge({})).bytes, { pages: BASE }, { ports })).resolves.toBeDefined()
    // The length of the first text in two bytes, a byte order mark, a lone surrogate, a NaN, -0.
    const longer = new Uint8Array([(good[0] as number) | 0x80, 0, ...good.subarray(1)])
    const surrogate = Buffer.from(good)
    surrogate.set([0xed, 0xa0, 0x80], surrogate.indexOf('tenant-1'))
    const time = Buffer.from(good)
    const timeAt = time.indexOf(Buffer.from(new Float64Array([header.takenAtMs]).buffer))
    time.writeDoubleLE(-0, timeAt)
    const nan = Buffer.from(time)
    nan.writeDoubleLE(Number.NaN, timeAt)
    for (const headerBytes of [longer, surrogate, time, nan]) {
      const { bytes } = await forge({ headerBytes })
      const error = await refusal(decodeCheckpoint(bytes, { pages: BASE }, { ports }))
      expect(error.details.reason).toBe('header')
    }
  })
})

describe('a forged body', () => {
  const words = (...bytes: number[]): Uint8Array => new Uint8Array(bytes)
  const raw = (length: number): Uint8Array => new Uint8Array(length).fill(1)
  it.each<[string, Uint8Array, { stateBytes?: number; pages?: number }, string]>([
    ['an unknown type', sectionsOf({ type: 4, bytes: raw(1) }), {}, 'sections'],
    [
      'an unknown method',
      sectionsOf({ type: SECTION.state, method: 2, bytes: raw(1) }),
      { stateBytes: 1 },
      'sections',
    ],
    ['an empty section', sectionsOf({ type: SECTION.state, bytes: raw(0) }), {}, 'sections'],
    [
      'a section of more than a mebibyte',
      sectionsOf({ type: SECTION.state, bytes: raw(1_048_577) }),
      { stateBytes: 1_048_577 },
      'sections',
    ],
    [
      'stored in other bytes than held',
      sectionsOf({ type: SECTION.state, bytes: raw(5), rawBytes: 6 }),
      { stateBytes: 6 },
      'sections',
    ],
    [
      'deflated into more',
      sectionsOf({ type: SECTION.state, method: METHOD.deflated, bytes: raw(5), rawBytes: 5 }),
      { stateBytes: 5 },
      'sections',
    ],
    [
      'no deflate stream',
      sectionsOf({ type: SECTION.state, method: METHOD.deflated, bytes: raw(5), rawBytes: 99 }),
      { stateBytes: 99 },
      'sections',
    ],
    [
      'a section beyond the body',
      sectionsOf({ type: SECTION.state, bytes: raw(5), rawBytes: 9, storedBytes: 9 }),
      { stateBytes: 9 },
      'sections',
    ],
    [
      'pages before the state',
      sectionsOf({ type: SECTION.pages, bytes: raw(1) }, { type: SECTION.state, bytes: raw(1) }),
      { stateBytes: 1, pages: 1 },
      'sections',
    ],
    [
      'crumbs',
      sectionsOf({ type: SECTION.state, bytes: raw(65_535) }, { type: SECTION.state, bytes: raw(1) }),
      { stateBytes: 65_536 },
      'sections',
    ],
    [
      'changes of a state without a parent',
      sectionsOf({ type: SECTION.stateChanges, bytes: words(1, 7, 0) }),
      { stateBytes: 1 },
      'state',
    ],
    [
      'a state and its changes',
      sectionsOf(
        { type: SECTION.state, bytes: raw(9) },
        { type: SECTION.stateChanges, bytes: words(1, 7, 0) },
      ),
      { stateBytes: 9 },
      'sections',
    ],
    [
      'more state than announced',
      sectionsOf({ type: SECTION.state, bytes: raw(9) }),
      { stateBytes: 8 },
      'state',
    ],
    ['an unknown kind of page', sectionsOf({ type: SECTION.pages, bytes: words(3) }), { pages: 1 }, 'pages'],
    [
      'a page outside of the memory',
      sectionsOf({ type: SECTION.pages, bytes: words(0x80, 0x06) }),
      { pages: 1 },
      'pages',
    ],
    [
      'a page at 2^50',
      sectionsOf({ type: SECTION.pages, bytes: words(0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01) }),
      { pages: 1 },
      'pages',
    ],
    [
      'a literal page that is cut',
      sectionsOf({ type: SECTION.pages, bytes: words(1, 1, 2, 3) }),
      { pages: 1 },
      'pages',
    ],
    [
      'a page of zeros in full',
      sectionsOf({
        type: SECTION.pages,
        bytes: new Uint8Array([0xb9, 0x01, ...new Uint8Array(PAGE_BYTES)]),
      }),
      { pages: 1 },
      'pages',
    ],
    [
      'zeros by words',
      sectionsOf({ type: SECTION.pages, bytes: words(0xba, 0x01, 0) }),
      { pages: 1 },
      'pages',
    ],
    [
      'more pages than announced',
      sectionsOf({ type: SECTION.pages, bytes: words(0, 0) }),
      { pages: 1 },
      'pages',
    ],
    [
      'fewer pages than announced',
      sectionsOf({ type: SECTION.pages, bytes: words(0xba, 0x01, 1, 0, 4, 0) }),
      { pages: 3 },
      'pages',
    ],
    [
      'a word of nothing recent',
      sectionsOf({ type: SECTION.pages, bytes: words(2, 1, 0, 3) }),
      { pages: 1 },
      'pages',
    ],
    [
      'a run beyond its page',
      sectionsOf({ type: SECTION.pages, bytes: words(2, 1, 0xf0, 0xff, 0x7f, 4) }),
      { pages: 1 },
      'pages',
    ],
  ])('is refused: %s', async (_, body, header, reason) => {
    const { bytes } = await forge({ header, body })
    const error = await refusal(decodeCheckpoint(bytes, { pages: BASE }, { ports }))
    expect({ code: error.code, reason: error.details.reason }).toEqual({ code: 'corrupted', reason })
  })

  it('is refused where a copy of state reaches beyond the parent, or gives more or less than announced', async () => {
    const parent = { pages: BASE, state: new Uint8Array(10) }
    for (const changes of [
      [0, 11, 0],
      [0, 1, 20],
      [0, 1, 1],
      [9, 1, 1, 1],
      [0, 8, 0],
      [0, 10, 0, 0, 1, 0],
      [200],
    ]) {
      const body = sectionsOf({ type: SECTION.stateChanges, bytes: new Uint8Array(changes) })
      const { bytes } = await forge({ header: { links: 1, parent: BASE_ROOT, stateBytes: 10 }, body })
      const error = await refusal(decodeCheckpoint(bytes, parent, { ports }))
      expect(error.details.reason, String(changes)).toBe('state')
    }
  })
})

describe('a bomb', () => {
  const limits = { maxMemoryBytes: 4_194_304, maxStateBytes: 1_048_576 }
  const bombOf = (length: number): Uint8Array => deflateRawSync(new Uint8Array(length), { level: 9 })

  /** What reading a header takes. */
  const LITTLE = 4_096

  /** Refused, having allocated and expanded no more than the limits. */
  async function expectContained(bytes: Uint8Array, mostBytes: number): Promise<CaissonError> {
    const inflate = vi.fn(ports.codec.inflate)
    const watched = { ports: { ...ports, codec: { ...ports.codec, inflate } }, limits }
    const allocations = watchAllocations()
    try {
      const error = await refusal(decodeCheckpoint(bytes, { pages: BASE }, watched))
      const expanded = inflate.mock.calls.reduce((sum, [, maxBytes]) => sum + maxBytes, 0)
      const allocated = allocations.sizes.reduce((sum, size) => sum + size, 0)
      expect(expanded + allocated).toBeLessThanOrEqual(mostBytes)
      return error
    } finally {
      allocations.stop()
    }
  }

  it('of declared sizes is refused before anything is allocated', async () => {
    for (const header of [
      { memoryBytes: 2 ** 31 },
      { memoryBytes: 2 ** 53 - 65_536 },
      { stateBytes: 2 ** 40 },
      { stateBytes: 1_048_577 },
      { pages: 2 ** 50, memoryBytes: 4_194_304 },
    ]) {
      const { bytes } = await forge({ header })
      expect(bytes.length).toBeLessThan(400)
      await expectContained(bytes, LITTLE)
    }
  })

  it('of a state within its limit, which the file does not hold, allocates nothing for it', async () => {
    const error = await expectContained((await forge({ header: { stateBytes: 1_048_576 } })).bytes, LITTLE)
    expect(error.details.reason).toBe('state')
  })

  it('that expands to 256 times what it says is stopped there', async () => {
    const body = sectionsOf({
      type: SECTION.state,
      method: METHOD.deflated,
      bytes: bombOf(67_108_864),
      rawBytes: 262_144,
    })
    const { bytes } = await forge({ header: { stateBytes: 262_144 }, body })
    const error = await expectContained(bytes, 3 * 262_144)
    expect(error.details.reason).toBe('sections')
  })

  it('of many sections that say the most they may is refused by their sum', async () => {
    const section = {
      type: SECTION.pages,
      method: METHOD.deflated,
      bytes: bombOf(1_048_576),
      rawBytes: 1_048_576,
    }
    const body = sectionsOf(...Array.from({ length: 400 }, () => section))
    const { bytes } = await forge({ header: { pages: 1_000, memoryBytes: 4_194_304 }, body })
    expect((await expectContained(bytes, LITTLE)).details.reason).toBe('pages')
  })

  it('of pages within the memory costs the memory and not more', async () => {
    // Each page one word, a thousand pages: 4 MiB out of 4 KB, which is what the limit allows.
    const entries = Array.from({ length: 1_000 }, (_, i) => (i < 45 ? [2, 1, 0, 4 * 9] : [2, 1, 0, 4]))
    const body = sectionsOf({ type: SECTION.pages, bytes: new Uint8Array(entries.flat()) })
    const { bytes } = await forge({ header: { pages: 1_000, memoryBytes: 4_194_304 }, body })
    const error = await expectContained(bytes, 4_194_304 + 65_536)
    expect(error.details.reason).toBe('root')
  })

  it('of a file that is too large is not even digested', async () => {
    const sha256 = vi.fn(ports.hash.sha256)
    const openSha256 = vi.fn(ports.hash.openSha256)
    const options = {
      ports: { ...ports, hash: { ...ports.hash, sha256, openSha256 } },
      limits: { maxFileBytes: 1_000 },
    }
    await expect(decodeCheckpoint(new Uint8Array(1_001), { pages: BASE }, options)).rejects.toMatchObject({
      code: 'checkpoint_too_large',
      details: { limit: 'maxFileBytes' },
    })
    expect(sha256).not.toHaveBeenCalled()
    expect(openSha256).not.toHaveBeenCalled()
  })
})

describe('a chain', () => {
  const decode = (
    head: Uint8Array,
    links: Iterable<{ id: string; bytes: Uint8Array }>,
    options: Partial<DecodeOptions> = {},
  ): Promise<unknown> => decodeChain(head, loaderOf(links), BASE, { ports, ...options })
  const at = (run: readonly Link[], index: number): Link => run.at(index) as Link

  it('with a gap is refused, wherever it is', async () => {
    const run = await encodeRun(5)
    for (let missing = 0; missing < 4; missing++) {
      const error = await refusal(
        decode(
          at(run, -1).bytes,
          run.filter((_, i) => i !== missing),
        ),
      )
      expect(error).toMatchObject({ code: 'corrupted', details: { reason: 'chain' } })
    }
  })

  it('with two links swapped, or one in place of another, is refused', async () => {
    const run = await encodeRun(5)
    for (const [a, b] of [
      [0, 1],
      [1, 2],
      [0, 3],
      [3, 4],
      [4, 4],
    ] as const) {
      const swapped = run.map((link, i) => ({
        id: link.id,
        bytes: at(run, i === a ? b : i === b ? a : i).bytes,
      }))
      const store = a === b ? run.map(({ id }) => ({ id, bytes: at(run, 4).bytes })) : swapped
      expect((await refusal(decode(at(run, -1).bytes, store))).code).toBe('corrupted')
    }
  })

  it('in a circle, or without an end, loads no more links than the limit', async () => {
    // With a digest that is no digest, somebody could make a checkpoint its own parent.
    const self = await forge({ header: { links: 32, parent: BASE_ROOT, sequence: 100 } })
    const load = vi.fn(() => Promise.resolve(self.bytes))
    await refusal(decodeChain(self.bytes, load, BASE, { ports }))
    expect(load).toHaveBeenCalledTimes(1)

    const endless = vi.fn()
    const long = await forge({ header: { links: 33, parent: BASE_ROOT } })
    const error = await refusal(decodeChain(long.bytes, endless, BASE, { ports }))
    expect(error).toMatchObject({ code: 'checkpoint_too_large', details: { limit: 'maxLinks' } })
    expect(endless).not.toHaveBeenCalled()
  })

  it('is read at the limit of links, and not beyond', async () => {
    const run = await encodeRun(33)
    await expect(decode(at(run, 32).bytes, run)).resolves.toMatchObject({ header: at(run, 32).header })
    await expect(decode(at(run, 32).bytes, run, { limits: { maxLinks: 31 } })).rejects.toMatchObject({
      code: 'checkpoint_too_large',
    })
  })

  it('whose links do not belong together is refused', async () => {
    const child = { links: 1, sequence: 5 }
    const pairs: readonly (readonly [Forgery['header'] & object, Forgery['header'] & object])[] = [
      [{ tenant: 'tenant-2' }, {}],
      [{ run: 'run-2' }, {}],
      [{ engine: 'quickjs-other' }, {}],
      [{ base: PageTree.empty.root() }, {}],
      [{ sequence: 5 }, {}],
      [{ sequence: 6 }, {}],
      [{ memoryBytes: 2 * MEMORY_BYTES }, {}],
      [{ links: 1, parent: BASE_ROOT }, {}],
      [{}, { links: 2 }],
    ]
    for (const [parentHeader, childHeader] of pairs) {
      const parent = await forge({ header: parentHeader })
      const head = await forge({ header: { ...child, parent: parent.id, ...childHeader } })
      const error = await refusal(decode(head.bytes, [parent]))
      expect(error, JSON.stringify([parentHeader, childHeader])).toMatchObject({
        code: 'corrupted',
        details: { reason: 'chain' },
      })
    }
    const good = await forge({})
    const head = await forge({ header: { ...child, parent: good.id } })
    await expect(decode(head.bytes, [good])).resolves.toBeDefined()
  })

  it('with a parent in whose place a twin lies, equal in all but what it says of itself, is refused', async () => {
    const [parent, twin] = [await forge({}), await forge({ header: { takenAtMs: 0 } })]
    const head = await forge({ header: { links: 1, sequence: 5, parent: parent.id } })
    const error = await refusal(decode(head.bytes, [{ id: parent.id, bytes: twin.bytes }]))
    expect(error).toMatchObject({ code: 'corrupted', details: { reason: 'chain' } })
  })

  it('from a secret to one that says it is none is refused', async () => {
    const run = await encodeRun(1, { keys: ALL_KEYS, header: { label: 'secret' } })
    const head = await encodeCheckpoint(
      { ...at(run, 0), header: headerOf({ links: 1, sequence: 2, parent: at(run, 0).id }) },
      at(run, 0),
      { ports, keys: ALL_KEYS },
    )
    const error = await refusal(decode(head.bytes, run, { keys: ALL_KEYS }))
    expect(error).toMatchObject({ code: 'corrupted', details: { reason: 'chain' } })
  })

  it('with one link that nobody with the key wrote is refused', async () => {
    const run = await encodeRun(4, { keys: MAC_KEYS })
    const plain = await encodeRun(4)
    const store = run.map(({ id }, i) => ({ id, bytes: i === 1 ? at(plain, 1).bytes : at(run, i).bytes }))
    const error = await refusal(decode(at(run, -1).bytes, store, { keys: MAC_KEYS }))
    expect(error).toMatchObject({ code: 'checkpoint_refused', details: { differs: 'authentication' } })
  })

  it('is within the limit of bytes in all', async () => {
    const run = await encodeRun(6)
    const total = run.reduce((sum, { bytes }) => sum + bytes.length, 0)
    await expect(decode(at(run, -1).bytes, run, { limits: { maxFileBytes: total } })).resolves.toBeDefined()
    await expect(
      decode(at(run, -1).bytes, run, { limits: { maxFileBytes: total - 1 } }),
    ).rejects.toMatchObject({
      code: 'checkpoint_too_large',
      details: { limit: 'maxFileBytes' },
    })
  })

  it('is refused against a parent that is not its own', async () => {
    const [run, other] = [await encodeRun(3), await encodeRun(3, { seed: 8 })]
    const error = await refusal(decodeCheckpoint(at(run, 2).bytes, at(other, 1), { ports }))
    expect(error).toMatchObject({ code: 'corrupted' })
    expect(['root', 'state', 'pages']).toContain(error.details.reason)
  })
})

describe('a checkpoint of somebody else', () => {
  const mine: CheckpointExpectation = {
    engine: headerOf().engine,
    base: BASE_ROOT,
    tenant: 'tenant-1',
    run: 'run-1',
    principal: 'user-1',
    minSequence: 3,
  }

  it.each<[string, Partial<ReturnType<typeof headerOf>>, string]>([
    ['tenant', { tenant: 'secret-tenant-name' }, 'checkpoint_refused'],
    ['run', { run: 'run-of-others' }, 'checkpoint_refused'],
    ['principal', { principal: 'administrator' }, 'checkpoint_refused'],
    ['engine', { engine: 'quickjs-ffffffffffffffff' }, 'engine_mismatch'],
    ['base', { base: PageTree.empty.root() }, 'engine_mismatch'],
    ['sequence', { sequence: 2 }, 'checkpoint_refused'],
  ])('is refused before its parents are loaded, saying what differs: %s', async (differs, header, code) => {
    const forged = await forge({ header: { sequence: 3, links: 1, parent: BASE_ROOT, ...header } })
    const load = vi.fn()
    const error = await refusal(decodeChain(forged.bytes, load, BASE, { ports, expect: mine }))
    expect(error).toMatchObject({ code, details: { differs } })
    expect(load).not.toHaveBeenCalled()
    if (code === 'checkpoint_refused') {
      expect(`${error.message} ${JSON.stringify(error.details)}`).not.toContain(
        String(Object.values(header)[0]).repeat(3),
      )
      expect(`${error.message} ${JSON.stringify(error.details)}`).not.toMatch(
        /secret-tenant|of-others|administrator/,
      )
    }
  })

  it('is refused where another one was asked for', async () => {
    const run = await encodeRun(2)
    const [first, second] = run as [Link, Link]
    const reading = decodeChain(first.bytes, loaderOf(run), BASE, { ports, expect: { id: second.id } })
    expect(await refusal(reading)).toMatchObject({ code: 'checkpoint_refused', details: { differs: 'id' } })
  })

  it('is taken where everything is as expected', async () => {
    const { bytes, id } = await forge({ header: { sequence: 3 } })
    await expect(
      decodeChain(bytes, loaderOf([]), BASE, { ports, expect: { ...mine, id } }),
    ).resolves.toBeDefined()
  })
})

describe('without the key', () => {
  const forgedBy = (keys: CheckpointKeys): Promise<readonly Link[]> => encodeRun(1, { keys })
  const other = { mac: { current: keyOf('mac-1', 99) }, encryption: { current: keyOf('enc-1', 98) } }

  it.each<[string, CheckpointKeys, CheckpointKeys, string]>([
    ['not authenticated where a key is configured', {}, MAC_KEYS, 'authentication'],
    ['authenticated where none is', MAC_KEYS, {}, 'macKey'],
    ['with an unknown key', { mac: { current: keyOf('mac-0', 1) } }, MAC_KEYS, 'macKey'],
    ['with a key of the same name', { mac: other.mac }, MAC_KEYS, 'mac'],
    ['encrypted with an unknown key', ALL_KEYS, MAC_KEYS, 'encryptionKey'],
    [
      'encrypted with a key of the same name',
      ALL_KEYS,
      { ...MAC_KEYS, encryption: other.encryption },
      'encryption',
    ],
  ])('nothing is taken: %s', async (_, writer, reader, differs) => {
    const [{ bytes }] = (await forgedBy(writer)) as [Link]
    const error = await refusal(decodeCheckpoint(bytes, { pages: BASE }, { ports, keys: reader }))
    expect(error).toMatchObject({ code: 'checkpoint_refused', details: { differs } })
    const shown = JSON.stringify({ message: error.message, details: error.details, cause: error.cause })
    for (const key of [1, 2, 98, 99]) expect(shown).not.toContain(`${key},${key},${key}`)
  })

  it('a MAC cannot be taken off', async () => {
    const [{ bytes }] = (await forgedBy(MAC_KEYS)) as [Link]
    const stripped = new Uint8Array([...bytes.subarray(0, -64), ...bytes.subarray(-32)])
    stripped[9] = (stripped[9] as number) & ~FLAG.authenticated
    const error = await refusal(
      decodeCheckpoint(resealed(stripped).bytes, { pages: BASE }, { ports, keys: MAC_KEYS }),
    )
    expect(['corrupted', 'checkpoint_refused']).toContain(error.code)
  })

  it('an encrypted body cannot be put under another header, also where nothing is authenticated', async () => {
    const keys = { encryption: ALL_KEYS.encryption } as CheckpointKeys
    const [a] = (await encodeRun(1, { keys, header: { tenant: 'tenant-a' } })) as [Link]
    const [b] = (await encodeRun(1, { keys, header: { tenant: 'tenant-b' } })) as [Link]
    expect(a.bytes.length).toBe(b.bytes.length)
    const bodyAt = 16 + new DataView(a.bytes.buffer).getUint16(10, true)
    const mixed = a.bytes.slice()
    mixed.set(b.bytes.subarray(bodyAt), bodyAt)
    const error = await refusal(decodeCheckpoint(resealed(mixed).bytes, { pages: BASE }, { ports, keys }))
    expect(error).toMatchObject({ code: 'checkpoint_refused', details: { differs: 'encryption' } })
  })

  it('a renamed tenant in a whole file is found out', async () => {
    const [{ bytes }] = (await forgedBy(MAC_KEYS)) as [Link]
    const renamed = Buffer.from(bytes)
    renamed.write('tenant-2', renamed.indexOf('tenant-1'))
    const error = await refusal(
      decodeCheckpoint(resealed(renamed).bytes, { pages: BASE }, { ports, keys: MAC_KEYS }),
    )
    expect(error).toMatchObject({ code: 'checkpoint_refused', details: { differs: 'mac' } })
  })
})
