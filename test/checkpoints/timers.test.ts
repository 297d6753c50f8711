/** Guests with timers, kept and repeated: a timer fires once, at the time and place that the record says. */
import { describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { nodeCheckpointPorts } from '../../host-bindings/system/checkpoint-ports.node.ts'
import {
  capability,
  type Outcome,
  openRuntime,
  type RunOptions,
  type RunStore,
  type Runtime,
  type RuntimeOptions,
} from '../../src/entry/node.ts'
import { EntryCodec } from '../../src/snapshot/run-log/entry-codec.ts'
import { boundStore } from './bound-store.ts'

const SEALING = { ports: nodeCheckpointPorts }
const DAY = 86_400_000
const T0 = Date.UTC(2026, 0, 1)

/** A clock that goes on from `start`, as fast as the host's. */
const clockFrom = (start: number): NonNullable<RuntimeOptions['clock']> => {
  const began = performance.now()
  return { now: () => start + performance.now() - began, monotonic: () => performance.now() }
}

interface World {
  readonly store: RunStore
  readonly startsAt?: number
  readonly orders?: unknown[]
  readonly every?: { readonly calls?: number; readonly ms?: number }
}

async function within<T>(
  { store, startsAt = T0, orders = [], every = { calls: 2 ** 30, ms: 2 ** 30 } }: World,
  work: (runtime: Runtime) => Promise<T>,
): Promise<T> {
  const order = capability({
    name: 'shop.order',
    description: 'Orders, and must not do so twice',
    effect: 'write',
    invoke: async (what: unknown) => {
      orders.push(what)
      return orders.length
    },
  })
  const runtime = await openRuntime({
    capabilities: [order],
    store,
    clock: clockFrom(startsAt),
    checkpoints: { every },
  })
  try {
    return await work(runtime)
  } finally {
    await runtime.close()
  }
}

const GRANTS: RunOptions = { grants: ['shop.order'], run: 'r', seed: 1, stateDigest: true }

/** Timers of every kind, with what they saw of time. */
const SOURCE = `
  const seen = []
  const note = (what) => seen.push([what, Date.now(), Math.random()])
  const beat = setInterval(() => { note('beat'); if (seen.length > 9) clearInterval(beat) }, 3)
  setTimeout(() => { note('throws'); throw new Error('in a timer') }, 5)
  setImmediate(note, 'immediate')
  setTimeout(async () => note(await shop.order('early')), 8)
  await new Promise((resolve) => setTimeout(resolve, 20))
  note(await shop.order('late'))
  return seen`

describe('a kept run with timers', () => {
  it('is the same when it is taken again: in value, fuel, time and state, to the last byte', async () => {
    for (const every of [undefined, { calls: 1 }, { calls: 3 }]) {
      const store = createMemoryRunStore()
      const kept = await within({ store, ...(every && { every }) }, (runtime) => runtime.run(SOURCE, GRANTS))
      expect(kept).toMatchObject({ status: 'completed', unhandledRejections: [{ message: 'in a timer' }] })
      const orders: unknown[] = []
      const repeated = await within({ store, startsAt: T0 + DAY, orders }, (runtime) =>
        runtime.repeat('r', { grants: ['shop.order'], stateDigest: true }),
      )
      expect(counted(repeated)).toEqual(counted(kept))
      expect(repeated.stateDigest).toBe(kept.stateDigest)
      expect(orders).toEqual([])
    }
  })

  it('goes on after it was killed between two timers, and orders nothing twice', async () => {
    const source = `
      const fired = []
      for (const [i, ms] of [10, 10, 3_600_000, 10].entries()) {
        await new Promise((resolve) => setTimeout(resolve, ms))
        fired.push(await shop.order(i), Date.now())
      }
      return fired`
    for (const every of [{ calls: 1 }, { calls: 2 ** 30, ms: 2 ** 30 }]) {
      const store = createMemoryRunStore()
      const orders: unknown[] = []
      const broken = await within({ store, orders, every }, async (runtime) => {
        const stop = new AbortController()
        const running = runtime.run(source, { ...GRANTS, signal: stop.signal })
        while (orders.length < 2) await new Promise((resolve) => setTimeout(resolve, 1))
        await new Promise((resolve) => setTimeout(resolve, 100)) // it sleeps for an hour by now
        stop.abort()
        return running
      })
      expect(broken).toMatchObject({ status: 'failed', error: { code: 'aborted' } })
      const done = await within({ store, orders, every, startsAt: T0 + DAY }, (runtime) =>
        runtime.resume('r', { grants: ['shop.order'], stateDigest: true }),
      )
      expect(done).toMatchObject({
        status: 'completed',
        value: [1, expect.any(Number), 2, expect.any(Number), 3, expect.any(Number), 4, expect.any(Number)],
      })
      const value = done.status === 'completed' ? (done.value as number[]) : []
      expect(value[3]).toBeLessThan(T0 + DAY)
      // Past its due time when it went on: at once, and the last one in its own time.
      expect(value[5]).toBeGreaterThanOrEqual(T0 + DAY)
      expect(value[7]).toBeGreaterThanOrEqual((value[5] ?? 0) + 10)
      expect(orders).toEqual([0, 1, 2, 3])
      const repeated = await within({ store }, (runtime) =>
        runtime.repeat('r', { grants: ['shop.order'], stateDigest: true }),
      )
      expect(counted(repeated)).toEqual(counted(done))
      expect(repeated.stateDigest).toBe(done.stateDigest)
    }
  })

  it('is parked at a call with its timers, and fires late what became due meanwhile, once and in order', async () => {
    const store = createMemoryRunStore()
    const source = `
      const seen = []
      setTimeout(() => seen.push('b'), 3_600_000)
      setTimeout(() => seen.push('a'), 60_000)
      const beat = setInterval(() => { seen.push('beat'); clearInterval(beat) }, 7_200_000)
      seen.push(await shop.order(1))
      await new Promise((resolve) => setTimeout(resolve, 1))
      return seen`
    const parked = await within({ store }, (runtime) => runtime.run(source, { ...GRANTS, stopAtCall: 1 }))
    expect(parked).toMatchObject({ status: 'suspended', pending: [{ id: 1 }] })
    const wakeAtMs = (parked as { wakeAtMs?: number }).wakeAtMs ?? 0
    expect(Math.round((wakeAtMs - T0) / 1_000)).toBe(60)
    const done = await within({ store, startsAt: T0 + DAY }, (runtime) =>
      runtime.resume('r', { grants: ['shop.order'] }),
    )
    expect(done).toMatchObject({ status: 'completed', value: ['a', 'b', 'beat', 1] })
  })

  it('is parked when its value is there, where that is asked for, and waits for the rest when it goes on', async () => {
    const store = createMemoryRunStore()
    const source = `setTimeout(() => console.log('fired'), 3_600_000); return 'value'`
    const parked = await within({ store }, (runtime) => runtime.run(source, { ...GRANTS, atEnd: 'suspend' }))
    expect(parked).toMatchObject({ status: 'suspended', pending: [], resumable: true })
    const done = await within({ store, startsAt: T0 + DAY }, (runtime) =>
      runtime.resume('r', { grants: ['shop.order'] }),
    )
    expect(done).toMatchObject({ status: 'completed', value: 'value', logs: [{ text: 'fired' }] })
  })

  it('that drops what is pending at its end says what it was, also when it is asked again', async () => {
    const store = createMemoryRunStore()
    const source = `setTimeout(() => {}, 60_000); setInterval(() => {}, 5); shop.order(1); return 'value'`
    const left = { calls: [{ id: 1, capability: 'shop.order', args: 1 }], timers: 2 }
    const orders: unknown[] = []
    const expected = { status: 'completed', value: 'value', left }
    await within({ store, orders }, async (runtime) => {
      expect(await runtime.run(source, { ...GRANTS, atEnd: 'drop' })).toMatchObject(expected)
      expect(await runtime.resume('r', { grants: ['shop.order'] })).toMatchObject(expected)
      expect(await runtime.repeat('r', { grants: ['shop.order'] })).toMatchObject(expected)
    })
    expect(orders).toEqual([])
  })

  it('goes on with more timers after it ran out of them', async () => {
    const store = createMemoryRunStore()
    const source = `let n = 0; const beat = setInterval(() => { n += 1; if (n === 6) clearInterval(beat) }, 1)
      await shop.order(1)
      await new Promise((resolve) => setTimeout(resolve, 30)); return n`
    await within({ store, every: { calls: 1 } }, async (runtime) => {
      const ended = await runtime.run(source, { ...GRANTS, limits: { timers: 4 } })
      expect(ended).toMatchObject({ status: 'exhausted', limit: 'timers', resumable: true })
      const resume = { grants: ['shop.order'], limits: { timers: 20 } }
      expect(await runtime.resume('r', resume)).toMatchObject({
        status: 'completed',
        value: expect.any(Number),
      })
    })
  })

  it('diverges where its record wakes it before a timer is due', async () => {
    const store = createMemoryRunStore()
    await within({ store }, (runtime) =>
      runtime.run('await new Promise((resolve) => setTimeout(resolve, 5)); await shop.order(1)', GRANTS),
    )
    const [from, to] = [new EntryCodec(SEALING), new EntryCodec(SEALING)]
    const sealed: Uint8Array[] = []
    for (const [at, bytes] of (await store.entries('r', 0, 1_000)).entries()) {
      const place = { tenant: 'default', run: 'r', at }
      const entry = await from.open(bytes, place)
      const early = entry.type === 'turn' && entry.answers.length === 0
      sealed.push(await to.seal(early ? { ...entry, nowMs: entry.nowMs - 5 } : entry, place))
    }
    const told: RunStore = { ...boundStore(store), entries: async (_, at) => sealed.slice(at) }
    const repeated = await within({ store: told }, (runtime) =>
      runtime.repeat('r', { grants: ['shop.order'] }),
    )
    expect(repeated).toMatchObject({ status: 'failed', error: { code: 'diverged' } })
  })
})

describe('a guest with timers that travels as a checkpoint', () => {
  it('goes on in another runtime, on another thread, and is woken by hand', async () => {
    const source = `const at = Date.now(); await new Promise((resolve) => setTimeout(resolve, ${DAY})); return Date.now() - at`
    const store = createMemoryRunStore()
    const bytes = await within({ store }, async (runtime) => {
      const guest = await runtime.start(source)
      expect(Math.round(((guest.wakeAtMs ?? 0) - T0) / 1_000)).toBe(DAY / 1_000)
      return guest.checkpoint()
    })
    await within({ store }, async (runtime) => {
      const guest = await runtime.restore(bytes)
      expect(guest.outcome).toBeUndefined()
      await guest.wake()
      expect(guest.outcome).toMatchObject({ status: 'completed', value: DAY })
      await expect(guest.wake()).rejects.toMatchObject({ code: 'no_timer' })
    })
    await within({ store, startsAt: T0 + 2 * DAY }, async (runtime) => {
      const elsewhere = await runtime.restore(bytes, { thread: 'worker' })
      expect(elsewhere.wakeAtMs).toBeDefined()
      expect(await elsewhere.finish()).toMatchObject({ status: 'completed' })
      const guest = await runtime.restore(bytes)
      expect(await guest.finish()).toMatchObject({ status: 'completed' })
    })
  })
})

/** An outcome without what differs from one time to the next. */
function counted(outcome: Outcome): unknown {
  // Who only takes it again has written nothing.
  const { usage, checkpoint: _, resumable: __, log: _____, ...rest } = outcome
  const { wallMs: ___, idleMs: ____, ...numbers } = usage
  return { ...rest, usage: numbers }
}
