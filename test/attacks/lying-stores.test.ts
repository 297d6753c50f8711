/**
 * Stores that lie: they give another answer than what was put, in every way that a disk, a service or whoever can write
 * to it might. Whatever they say, nothing is done twice, and whoever asked is told by a code.
 */
import { beforeEach, describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import type { RunHead, RunStore, Runtime } from '../../src/entry/node.ts'
import { boundStore } from '../checkpoints/bound-store.ts'
import { type Bank, endOf, KEYS, openBank } from './bank.ts'

const SOURCE = 'const said = []; for (let i = 0; i < 4; i++) said.push(await bank.pay(i)); return said.join()'
const checkpoints = { every: { calls: 1 }, keys: KEYS }

let bank: Bank
let store: RunStore
/** What the store says instead of the truth, to the runtime that is to go on with the run. */
let lies: Partial<RunStore>
let victim: Runtime
/** Every head that the run has had. */
let heads: RunHead[]
/** The log of a run that waits before its third payment. */
let entries: readonly Uint8Array[]

beforeEach(async () => {
  bank = openBank()
  store = createMemoryRunStore()
  heads = []
  lies = {}
  const watched: RunStore = {
    ...boundStore(store),
    setHead: async (run, head, lease) => {
      await store.setHead(run, head, lease)
      heads.push(head)
    },
  }
  const runtime = await bank.open(watched, { checkpoints })
  const grants = bank.grants
  expect(await endOf(runtime.run(SOURCE, { grants, run: 'r', stopAtCall: 3 }))).toBe('suspended')
  entries = await store.entries('r', 0, 1_000)
  const honest = boundStore(store)
  const lying = new Proxy(honest, { get: (_, name: keyof RunStore) => lies[name] ?? honest[name] })
  victim = await bank.open(lying, { checkpoints })
})

const resumed = async (lying: Partial<RunStore>): Promise<string> => {
  lies = lying
  return endOf(victim.resume('r', { grants: bank.grants }))
}

const nothingHappened = async (): Promise<void> => {
  expect(bank.paid).toEqual([0, 1])
  expect(await store.entries('r', 0, 1_000)).toEqual(entries)
  expect(await resumed({})).toBe('completed')
  expect(bank.paid).toEqual([0, 1, 2, 3])
}

describe('the head of a run', () => {
  it('that is an older one leads to the same end: the log has what came after', async () => {
    for (const head of heads) {
      lies = { head: () => Promise.resolve(head) }
      const again = await victim.repeat('r', { grants: bank.grants })
      expect(again).toMatchObject({ status: 'suspended', pending: [{ id: 3 }] })
    }
    const [first] = heads
    let asked = 0
    await resumed({
      head: (run) => {
        asked += 1
        return asked === 1 ? Promise.resolve(first) : store.head(run)
      },
    })
    expect(bank.paid).toEqual([0, 1, 2, 3])
  })

  it('that joins a checkpoint with the place of another one in the log is refused', async () => {
    const ends = new Set<string>()
    for (const { chain, position } of heads.filter((head) => head.chain.length > 0)) {
      for (let other = 0; other <= entries.length; other += 1) {
        if (other === position) continue
        const head = { ...(heads.at(-1) as RunHead), chain, position: other }
        ends.add(await resumed({ head: () => Promise.resolve(head) }))
      }
    }
    expect(ends).toEqual(new Set(['corrupted']))
    await nothingHappened()
  })
})

describe('an answer that is none', () => {
  const JUNK: readonly unknown[] = [null, 0, 'x', [], {}, () => {}, Symbol('x'), Promise.resolve(null)]
  const bytes = new Uint8Array(3)

  it.each(['head', 'getBlob', 'entries', 'lease'] as const)(
    'to %s is refused by a code',
    async (operation) => {
      const head = heads.at(-1) as RunHead
      const junk: Readonly<Record<typeof operation, readonly unknown[]>> = {
        head: [
          { ...head, chain: {} },
          { ...head, chain: ['sha256:0'] },
          { ...head, chain: new Array(1e9) },
          { ...head, position: -1 },
          { ...head, position: 2 ** 53 },
          { ...head, position: '6' },
          { ...head, version: Number.NaN },
          { ...head, summary: 'x' },
        ],
        getBlob: [bytes.buffer, [1, 2, 3], new Uint8Array(0), bytes],
        entries: [[1], [bytes, 'x'], new Array(1_001).fill(bytes), new Array(2 ** 32 - 1), [bytes]],
        lease: [{ held: () => true }, { held: () => true, renew: 1, release: 2 }],
      }
      for (const answer of [...JUNK, ...junk[operation]]) {
        const end = await resumed({ [operation]: () => Promise.resolve(answer) })
        expect(end, String(operation)).toMatch(/^(store_failed|corrupted|not_found|checkpoint_refused)$/)
      }
      await nothingHappened()
    },
  )

  it('but something thrown of whatever kind is refused by a code as well', async () => {
    for (const thrown of [undefined, null, 'x', Symbol('x'), 1n, { code: 'x' }, Object.create(null)]) {
      for (const operation of ['head', 'getBlob', 'entries', 'lease'] as const) {
        expect(await resumed({ [operation]: () => Promise.reject(thrown) })).toBe('store_failed')
        const throwing = (): never => {
          throw thrown
        }
        expect(await resumed({ [operation]: throwing })).toBe('store_failed')
      }
    }
    await nothingHappened()
  })

  it('of a lease that cannot be renewed, asked or given back in whatever way does not reach the process', async () => {
    const strange = (): never => {
      throw Symbol('strange')
    }
    const broken = (lies: object): Partial<RunStore> => ({
      lease: async (run, ttlMs) => ({ ...(await store.lease(run, ttlMs)), ...lies }),
    })
    expect(await resumed(broken({ held: strange }))).toBe('lease_lost')
    expect(bank.paid).toEqual([0, 1])
    // Its intent is in the log: that it was not made is known to nobody who only reads that.
    expect(await resumed(broken({ held: () => false, renew: strange, release: strange }))).toBe('suspended')
    expect(await resumed({})).toBe('store_conflict')
    expect(bank.paid).toEqual([0, 1])
  })
})

describe('bytes that are not what was put', () => {
  it('are refused with any one of them changed: of checkpoints, and of the log', async () => {
    const flipped = (of: Uint8Array, at: number): Uint8Array => {
      const copy = of.slice()
      copy[at] = (copy[at] ?? 0) ^ 0x40
      return copy
    }
    const ends = new Set<string>()
    const blob = (await store.getBlob((heads.at(-1) as RunHead).chain[0] as never)) as Uint8Array
    for (let at = 0; at < blob.length; at += 97) {
      ends.add(await resumed({ getBlob: () => Promise.resolve(flipped(blob, at)) }))
    }
    const last = heads.at(-1)?.position ?? 0
    for (let at = 0; at < (entries[last]?.length ?? 0); at += 61) {
      const lying = entries.with(last, flipped(entries[last] as Uint8Array, at))
      ends.add(await resumed({ entries: async (_, from, most) => lying.slice(from, from + most) }))
    }
    expect([...ends].sort()).toEqual(['checkpoint_refused', 'corrupted'])
    await nothingHappened()
  })

  it('of another run, with the same tenant and key, are refused', async () => {
    const runtime = await bank.open(store, { checkpoints })
    const other = { grants: bank.grants, run: 'other', stopAtCall: 3 }
    expect(await endOf(runtime.run(SOURCE, other))).toBe('suspended')
    bank.paid.splice(2)
    const lies: Readonly<Record<string, Partial<RunStore>>> = {
      head: { head: () => store.head('other') },
      log: { entries: (_, from, most) => store.entries('other', from, most) },
      'head and log': {
        head: () => store.head('other'),
        entries: (_, from, most) => store.entries('other', from, most),
      },
    }
    for (const [what, lie] of Object.entries(lies)) {
      expect(await resumed(lie), what).toMatch(/checkpoint_refused|corrupted/)
    }
    await nothingHappened()
  })

  it('of an earlier run of the same name are refused where they are mixed with those of this one', async () => {
    const [oldHead, oldEntries] = [heads.at(-1) as RunHead, entries]
    const old = await store.getBlob(oldHead.chain[0] as never)
    const lease = await store.lease('r', 1_000)
    await store.remove('r', lease)
    bank.paid.splice(0)
    const runtime = await bank.open(store, { checkpoints })
    await runtime.run(SOURCE, { grants: bank.grants, run: 'r', stopAtCall: 3 })
    entries = await store.entries('r', 0, 1_000)
    expect(old).toBeDefined()
    expect(await resumed({ head: () => Promise.resolve(oldHead) })).toBe('corrupted')
    expect(await resumed({ entries: async (_, from, most) => oldEntries.slice(from, from + most) })).toBe(
      'corrupted',
    )
    await nothingHappened()
  })

  it('that never end are refused, rather than read for ever', async () => {
    const mark = entries[heads.at(-1)?.position ?? 0] as Uint8Array
    const endless = async (_: string, __: number, most: number): Promise<readonly Uint8Array[]> =>
      new Array<Uint8Array>(most).fill(mark)
    expect(await resumed({ entries: endless })).toMatch(/corrupted|checkpoint_refused/)
    await nothingHappened()
  })
})
