/** Runs of plans are verified from their records: real isolates, real stores, and all that somebody may change in them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { nodeCheckpointPorts } from '../../host-bindings/system/checkpoint-ports.node.ts'
import { fromHex } from '../../src/base/bytes.ts'
import {
  capability,
  openRuntime,
  openSigner,
  type Plan,
  type Runtime,
  type RuntimeOptions,
  type SignedReceipt,
  type Verification,
  type VerifyOptions,
} from '../../src/entry/node.ts'
import { Journal, type JournalOptions, readJournal } from '../../src/journal/journal.ts'
import type { RunStore } from '../../src/ports/run-store.ts'
import { EntryCodec } from '../../src/snapshot/run-log/entry-codec.ts'
import type { RunEntry, StartEntry } from '../../src/snapshot/run-log/run-entry.ts'
import { boundStore } from '../checkpoints/bound-store.ts'

const PEM = `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
-----END PRIVATE KEY-----
`
const PUBLIC = fromHex('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a')
const keys = { mac: { current: { id: 'k', bytes: new Uint8Array(32).fill(7) } } }

const lookup = capability({
  name: 'prices.lookup',
  description: 'Price of a product',
  effect: 'read',
  invoke: async (input: unknown) => ({ price: (input as { sku: string }).sku.length * 10 }),
})

const PLAN: Plan = {
  format: 'plan/1',
  name: 'prices',
  version: '1',
  grants: ['prices.lookup'],
  nodes: {
    list: {
      kind: 'program',
      source: 'return input.map((sku) => ({ sku, at: Date.now(), luck: Math.random() }))',
      input: { $from: 'input' },
    },
    enrich: {
      kind: 'each',
      over: { $from: 'list' },
      most: 10,
      do: {
        nodes: {
          price: { kind: 'call', capability: 'prices.lookup', input: { sku: { $from: 'item/sku' } } },
        },
        output: { $from: 'price/price' },
      },
    },
    way: {
      kind: 'choice',
      cases: [
        { when: { $eval: 'prices.length > 1', with: { prices: { $from: 'enrich' } } }, take: ['many'] },
      ],
      otherwise: ['few'],
    },
    many: {
      kind: 'program',
      source: `const { price } = await prices.lookup({ sku: 'total' })
        return { sum: input.reduce((a, b) => a + b, price), long: 'x'.repeat(3000) }`,
      grants: ['prices.lookup'],
      input: { $from: 'enrich' },
    },
    few: { kind: 'wait', forMs: 1 },
  },
  output: { $from: 'many/sum' },
}

let runtimes: Runtime[] = []

async function open(options: RuntimeOptions): Promise<Runtime> {
  const runtime = await openRuntime({ capabilities: [lookup], ...options })
  runtimes.push(runtime)
  return runtime
}

async function played(runtime: Runtime, plan: Plan = PLAN): Promise<void> {
  const run = await runtime.propose(plan, { by: 'ann', run: 'r', input: ['a', 'bcd'] })
  await run.approve({ by: 'bob', digest: (await run.view()).request })
  await run.start({ by: 'bob' })
  expect(await run.outcome()).toMatchObject({ status: 'completed', output: 90 })
}

afterAll(async () => {
  for (const runtime of runtimes) await runtime.close()
  runtimes = []
})

describe('verifying an honest run', () => {
  let store: RunStore
  let runtime: Runtime
  let receipts: readonly SignedReceipt[]

  beforeAll(async () => {
    store = createMemoryRunStore()
    runtime = await open({ store, checkpoints: { keys }, receipts: { sign: await openSigner(PEM) } })
    await played(runtime)
    receipts = await runtime.receipts('r')
  })

  it('says which programs it cannot execute where there are no such tools: that is no difference', async () => {
    const here = await open({ store, checkpoints: { keys }, capabilities: [] })
    const { ok, executed, unchecked } = await here.verify('r')
    expect({ ok, executed }).toEqual({ ok: true, executed: 1 })
    expect(unchecked).toMatchObject([{ node: 'many', why: expect.stringContaining('prices.lookup') }])
  })

  it('accepts it, executes its programs again, and asks nobody', async () => {
    const { ok, difference, executed, unchecked, signed, events } = await runtime.verify('r', {
      signers: [PUBLIC],
    })
    expect(difference).toBeUndefined()
    expect({ ok, executed, unchecked }).toEqual({ ok: true, executed: 2, unchecked: [] })
    expect(signed?.events).toBe(events)
  })

  it('accepts it in another process, without the key that signed', async () => {
    const other = await open({ store, checkpoints: { keys } })
    expect((await other.verify('r', { signers: [PUBLIC], receipts })).difference).toBeUndefined()
  })

  it('gives each attempt a receipt, with what it was given, what it called and what came out', () => {
    const of = (node: string) => receipts.find(({ receipt }) => receipt.node === node)
    expect(receipts).toHaveLength(6)
    expect(of('many')?.receipt).toMatchObject({
      ended: 'node_completed',
      engine: runtime.engine,
      calls: [{ call: 1, capability: 'prices.lookup' }],
      attempt: 1,
    })
    expect(of('many')?.receipt.fuel).toBeGreaterThan(0)
    expect(of('many')?.receipt.log?.entries).toBeGreaterThan(2)
    expect(of('enrich/1/price')?.receipt.calls[0]?.result).toMatch(/^sha256:/)
  })

  it('refuses receipts that were forged, of another run, or signed by nobody who is trusted', async () => {
    const [first] = receipts
    if (first === undefined) throw new Error('There are none.')
    const refused = async (receipt: SignedReceipt, signers = [PUBLIC]): Promise<void> => {
      const { difference } = await runtime.verify('r', { signers, receipts: [receipt] })
      expect(difference?.of).toBe('receipt')
    }
    await refused({ ...first, receipt: { ...first.receipt, fuel: 1 } })
    await refused({ ...first, receipt: { ...first.receipt, fuel: 1 } }, [])
    await refused({
      ...first,
      receipt: { ...first.receipt, journal: { ...first.receipt.journal, position: 0 } },
    })
    await refused({ ...first, signature: `00${first.signature?.slice(2)}` })
    const { signature: _, signedBy: __, ...unsigned } = first
    await refused(unsigned)
  })

  it('refuses a journal that somebody else signed', async () => {
    const { difference } = await runtime.verify('r', { signers: [new Uint8Array(32).fill(3)] })
    expect(difference?.of).toBe('signature')
  })

  it('refuses what nobody signed behind the last signature', async () => {
    const anew = createMemoryRunStore()
    const lease = await anew.lease('r', 60_000)
    await anew.append('r', 0, await store.entries('r', 0, 1_000), lease)
    const sealing = { ports: nodeCheckpointPorts, keys }
    const journal = await Journal.open({ store: anew, run: 'r', tenant: 'default', sealing }, lease, () => {})
    const { length } = journal
    journal.add({ type: 'cancelled', timeMs: 1 })
    await journal.flush()
    const other = await open({
      store: { ...boundStore(store), entries: entriesOf(anew, store) },
      checkpoints: { keys },
    })
    const { difference } = await other.verify('r', { signers: [PUBLIC] })
    expect(difference).toMatchObject({ of: 'signature', position: length })
  })

  it('tells a journal that was cut off by what was seen of it before, or by its signature', async () => {
    const { events, point } = await runtime.verify('r')
    for (const cut of [1, 2, 5]) {
      const shorter = await open({ store: cutOff(store, events - cut), checkpoints: { keys } })
      const { difference } = await shorter.verify('r', { known: [{ events, point }] })
      expect(difference).toMatchObject({ of: 'point', position: events - cut })
    }
  })
})

describe('verifying a run whose output cannot be made', () => {
  const plan: Plan = {
    ...PLAN,
    output: { $eval: 'sum.missing.member', with: { sum: { $from: 'many/sum' } } },
  }

  it('accepts that it failed with it', async () => {
    const runtime = await open({ store: createMemoryRunStore() })
    const run = await runtime.propose(plan, { by: 'ann', run: 'r', input: ['a', 'bcd'] })
    await run.approve({ by: 'bob', digest: (await run.view()).request })
    await run.start({ by: 'bob' })
    const outcome = await run.outcome()
    expect(outcome).toMatchObject({ status: 'failed', node: '' })
    expect('error' in outcome && outcome.error?.message).toContain(
      'The output of the plan: The expression failed',
    )
    expect((await runtime.verify('r')).difference).toBeUndefined()
  })

  it('refuses to believe it of one whose output can be made', async () => {
    const store = createMemoryRunStore()
    await played(await open({ store }))
    const forged = createMemoryRunStore()
    const entries = await store.entries('r', 0, 1_000)
    const lease = await forged.lease('r', 60_000)
    await forged.append('r', 0, entries.slice(0, -1), lease)
    const sealing = { ports: nodeCheckpointPorts }
    const options: JournalOptions = { store: forged, run: 'r', tenant: 'default', sealing }
    const journal = await Journal.open(options, lease, () => {})
    const error = { class: 'fatal', code: 'program_failed', message: 'It is said so.' }
    journal.add({ type: 'failing', node: '', error, timeMs: Date.now() })
    await journal.flush()
    const runtime = await open({ store: { ...boundStore(store), entries: entriesOf(forged, store) } })
    const { difference } = await runtime.verify('r')
    expect(difference).toMatchObject({ of: 'order', position: entries.length - 1 })
  })
})

describe.each([
  ['with a MAC', { checkpoints: { keys } }, {}],
  ['with signatures', {}, { signers: [PUBLIC] }],
] as const)('a run whose bytes were changed, %s', (_, protection, asked: VerifyOptions) => {
  const store = createMemoryRunStore()
  const blobs: string[] = []
  let entries: readonly Uint8Array[] = []

  beforeAll(async () => {
    const recording = {
      ...boundStore(store),
      putBlob: (id: never, bytes: Uint8Array) => {
        blobs.push(id)
        return store.putBlob(id, bytes)
      },
    }
    await played(await open({ store: recording, ...protection, receipts: { sign: await openSigner(PEM) } }))
    entries = await store.entries('r', 0, 1_000)
  })

  it('is named with the entry of its journal', async () => {
    const changing = changed(store)
    const runtime = await open({ store: changing.store, ...protection })
    for (const [at, entry] of entries.entries()) {
      for (let byte = at % 7; byte < entry.length; byte += 61) {
        changing.entry = { run: 'r', at, byte }
        const { difference } = await runtime.verify('r', asked)
        // Without a MAC it is the entry after it that does not follow any more.
        expect([at, at + 1], `byte ${byte} of entry ${at}`).toContain(difference?.position)
      }
    }
  })

  it('is named with the value, the plan, or the log of a program', async () => {
    const changing = changed(store)
    const runtime = await open({ store: changing.store, ...protection })
    const logs = (await store.runs()).filter((run) => run.startsWith('r.') && !run.includes('values'))
    expect(logs).toHaveLength(1)
    for (const id of blobs) {
      changing.blob = { id, byte: 40 }
      expect((await runtime.verify('r', asked)).difference?.position, id).toBeGreaterThanOrEqual(0)
    }
    changing.blob = undefined
    const [log = ''] = logs
    for (const at of (await store.entries(log, 0, 1_000)).keys()) {
      changing.entry = { run: log, at, byte: 50 }
      expect((await runtime.verify('r', asked)).difference, `entry ${at} of the log`).toMatchObject({
        node: 'many',
        of: 'log',
      })
    }
  })

  it('and so are entries that were left out, or stand in another order', async () => {
    const verified = async (order: readonly Uint8Array[]): Promise<Verification> => {
      const other: RunStore = {
        ...boundStore(store),
        entries: async (run, from, most) =>
          run === 'r' ? order.slice(from, from + most) : store.entries(run, from, most),
      }
      return (await open({ store: other, ...protection })).verify('r', asked)
    }
    const swapped = entries.with(3, entries[4] as Uint8Array).with(4, entries[3] as Uint8Array)
    expect((await verified(swapped)).difference?.position).toBe(3)
    expect((await verified(entries.toSpliced(3, 1))).difference?.position).toBe(3)
    expect((await verified([...entries, entries[3] as Uint8Array])).difference?.position).toBe(entries.length)
  })
})

describe('a run whose journal was written anew, so that all of it fits together', () => {
  const store = createMemoryRunStore()
  const options = (run: RunStore): JournalOptions => ({
    store: run,
    run: 'r',
    tenant: 'default',
    sealing: { ports: nodeCheckpointPorts },
  })

  beforeAll(async () => played(await open({ store })))

  const forged = async (change: (event: Writable) => void): Promise<Verification> => {
    const anew = createMemoryRunStore()
    const lease = await anew.lease('r', 60_000)
    const journal = await Journal.open(options(anew), lease, () => {})
    await readJournal(options(store), (record) => {
      const event = structuredClone(record) as Writable
      change(event)
      journal.add(event)
    })
    await journal.flush()
    const other = { ...boundStore(store), entries: entriesOf(anew, store) }
    return (await open({ store: other })).verify('r')
  }

  it.each([
    [
      'the fuel of a program',
      'fuel',
      'node_completed',
      'list',
      (event) => {
        event.used = { ...event.used, fuel: (event.used?.fuel ?? 0) - 1 }
      },
    ],
    [
      'the output of a program',
      'output',
      'node_completed',
      'list',
      (event) => {
        event.output = { value: [{ sku: 'a' }, { sku: 'b' }] }
      },
    ],
    [
      'the output of a call',
      'output',
      'node_completed',
      'enrich/0/price',
      (event) => {
        event.output = { value: { price: 1 } }
      },
    ],
    [
      'what a node was given',
      'input',
      'node_started',
      'enrich/1/price',
      (event) => {
        event.input = { value: { sku: 'else' } }
      },
    ],
    [
      'which way a choice went',
      'condition',
      'node_completed',
      'way',
      (event) => {
        event.chosen = ['few']
      },
    ],
    [
      'why a node was skipped',
      'order',
      'node_skipped',
      'few',
      (event) => {
        event.reason = 'skipped_before'
      },
    ],
    [
      'the output of the run',
      'output',
      'completed',
      undefined,
      (event) => {
        event.output = { value: 91 }
      },
    ],
    [
      'what was approved',
      'request',
      'approved',
      undefined,
      (event) => {
        event.request = event.request?.replace(/[0-9a-f]$/, (digit) => (digit === '0' ? '1' : '0'))
      },
    ],
    [
      'the log that a program has',
      'log',
      'node_completed',
      'many',
      (event) => {
        if (event.ran?.log !== undefined) event.ran.log.entries -= 1
      },
    ],
  ] as [string, string, string, string | undefined, (event: Writable) => void][])(
    'is named for %s',
    async (_, of, type, node, change) => {
      const { difference } = await forged((event) => {
        if (event.type === type && event.node === node) change(event)
      })
      expect(difference).toMatchObject({ of, ...(node !== undefined && { node }) })
    },
  )
})

describe('a kept program whose log was written anew, with the journal that names it', () => {
  const store = createMemoryRunStore()

  beforeAll(async () => played(await open({ store })))

  const forged = async (change: (start: StartEntry) => RunEntry): Promise<Verification> => {
    const anew = createMemoryRunStore()
    const log = (await store.runs()).find((run) => run.startsWith('r.') && !run.includes('values')) ?? ''
    const sealing = { ports: nodeCheckpointPorts }
    const [reader, writer] = [new EntryCodec(sealing), new EntryCodec(sealing)]
    const logLease = await anew.lease(log, 60_000)
    const entries = await store.entries(log, 0, 1_000)
    for (const [at, bytes] of entries.entries()) {
      const place = { tenant: 'default', run: log, at }
      const entry = await reader.open(bytes, place)
      const sealed = await writer.seal(entry.type === 'start' ? change(entry) : entry, place)
      await anew.append(log, at, [sealed], logLease)
    }
    const lease = await anew.lease('r', 60_000)
    const journal = await Journal.open({ store: anew, run: 'r', tenant: 'default', sealing }, lease, () => {})
    await readJournal({ store, run: 'r', tenant: 'default', sealing }, (record) => {
      const event = structuredClone(record) as Writable
      if (event.ran?.log !== undefined) Object.assign(event.ran.log, { digest: writer.last })
      journal.add(event)
    })
    await journal.flush()
    const entriesOf: RunStore['entries'] = (run, from, most) =>
      (run === 'r' || run === log ? anew : store).entries(run, from, most)
    return (await open({ store: { ...boundStore(store), entries: entriesOf } })).verify('r')
  }

  it('is accepted where nothing of it was changed', async () => {
    expect(await forged((start) => start)).toMatchObject({ ok: true, executed: 2 })
  })

  // Each does the same, with the same fuel: only the comparison with the plan can tell.
  it.each([
    [
      'source',
      (start) => ({ ...start, source: start.source.replaceAll('(a, b) => a + b', '(b, a) => b + a') }),
    ],
    ['seed', (start) => ({ ...start, seed: new Uint8Array(32) })],
    ['input', (start) => ({ ...start, input: [30, 10] })],
  ] as [string, (start: StartEntry) => RunEntry][])('is named for another %s', async (what, change) => {
    const { difference } = await forged(change)
    expect(difference).toMatchObject({ of: 'program', node: 'many' })
    expect(difference?.message).toContain(what)
  })
})

/** An event, to be changed. */
interface Writable {
  readonly type: string
  readonly node?: string
  used?: { fuel?: number } | undefined
  output?: unknown
  input?: unknown
  chosen?: readonly string[]
  reason?: string
  request?: string | undefined
  ran?: { log?: { entries: number } }
}

function entriesOf(journals: RunStore, others: RunStore): RunStore['entries'] {
  return (run, from, most) => (run === 'r' ? journals : others).entries(run, from, most)
}

interface Changing {
  readonly store: RunStore
  entry: { readonly run: string; readonly at: number; readonly byte: number } | undefined
  blob: { readonly id: string; readonly byte: number } | undefined
}

/** The same store, in which one byte reads as another one. */
function changed(store: RunStore): Changing {
  const flip = (bytes: Uint8Array, byte: number): Uint8Array => {
    const copy = bytes.slice()
    const at = byte % copy.length
    copy[at] = (copy[at] ?? 0) ^ 1
    return copy
  }
  const changing: Changing = {
    entry: undefined,
    blob: undefined,
    store: {
      ...boundStore(store),
      entries: async (run, from, most) =>
        (await store.entries(run, from, most)).map((bytes, i) => {
          const { entry } = changing
          return entry?.run === run && entry.at === from + i ? flip(bytes, entry.byte) : bytes
        }),
      getBlob: async (id) => {
        const bytes = await store.getBlob(id)
        return bytes !== undefined && changing.blob?.id === id ? flip(bytes, changing.blob.byte) : bytes
      },
    },
  }
  return changing
}

function cutOff(store: RunStore, length: number): RunStore {
  return {
    ...boundStore(store),
    entries: async (run, from, most) =>
      store.entries(run, from, run === 'r' ? Math.max(0, Math.min(most, length - from)) : most),
  }
}
