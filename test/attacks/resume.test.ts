/**
 * Attacks on what goes on: older, foreign and forged checkpoints and logs, spent twice, with rights that were taken back,
 * beside guests that left things in memory.
 */
import { afterEach, describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { nodeCheckpointPorts } from '../../host-bindings/system/checkpoint-ports.node.ts'
import {
  CaissonError,
  type Capability,
  capability,
  openRuntime,
  type RunStore,
  type Runtime,
  type RuntimeOptions,
} from '../../src/entry/node.ts'
import { base } from '../../src/isolate/isolate.testkit.ts'
import { decodeCheckpoint } from '../../src/snapshot/container/decode-checkpoint.ts'
import { boundStore } from '../checkpoints/bound-store.ts'
import { retold, withEntries } from './retold-log.ts'

const paid: string[] = []
const bank: readonly Capability[] = [
  capability({
    name: 'bank.pay',
    description: 'Pays',
    effect: 'write',
    invoke: (args: unknown) => {
      paid.push(JSON.stringify(args))
      return paid.length
    },
  }),
  capability({ name: 'bank.look', description: 'Looks', effect: 'read', invoke: () => 'seen' }),
]
const all = ['bank.pay', 'bank.look']
const mac = (fill: number) => ({ mac: { current: { id: `m${fill}`, bytes: new Uint8Array(32).fill(fill) } } })

const open: Runtime[] = []
const runtimeWith = async (options: RuntimeOptions = {}): Promise<Runtime> => {
  const runtime = await openRuntime({ capabilities: bank, ...options })
  open.push(runtime)
  return runtime
}
afterEach(async () => {
  for (const runtime of open.splice(0)) await runtime.close()
  paid.length = 0
})

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (outcome) => (outcome as { status?: string }).status ?? 'done',
    (error: unknown) => (CaissonError.is(error) ? error.code : error),
  )

const PAY_TWICE = 'const a = await bank.pay({ n: 1 }); const b = await bank.pay({ n: 2 }); return [a, b]'

/** Parks a kept run before its call number `at`; the bytes of its newest checkpoint. */
const parkedAt = async (
  runtime: Runtime,
  store: RunStore,
  at: number,
  options: { readonly run: string; readonly domain?: string } = { run: 'r' },
): Promise<Uint8Array> => {
  await runtime.run(PAY_TWICE, { grants: all, stopAtCall: at, ...options })
  const head = await store.head(options.run)
  return (await store.getBlob(head?.chain[0] as never)) as Uint8Array
}

describe('a checkpoint of a kept run', () => {
  it('is spent once: the same one again, and an older one, are refused, and nothing is paid again', async () => {
    const store = createMemoryRunStore()
    const runtime = await runtimeWith({ store, checkpoints: { every: { calls: 1 } } })
    const first = await parkedAt(runtime, store, 1)
    expect(await codeOf(runtime.resume('r', { grants: all, checkpoint: first, stopAtCall: 2 }))).toBe(
      'suspended',
    )
    const second = (await store.getBlob((await store.head('r'))?.chain[0] as never)) as Uint8Array
    expect(await codeOf(runtime.resume('r', { grants: all, checkpoint: first }))).toBe('checkpoint_refused')
    expect(await codeOf(runtime.resume('r', { grants: all, checkpoint: second }))).toBe('completed')
    expect(await codeOf(runtime.resume('r', { grants: all, checkpoint: second }))).toBe('checkpoint_refused')
    expect(await codeOf(runtime.resume('r', { grants: all, checkpoint: first }))).toBe('checkpoint_refused')
    expect(paid).toEqual(['{"n":1}', '{"n":2}'])
  })

  it('is not restored beside its record, which would spend its budget again', async () => {
    const store = createMemoryRunStore()
    const runtime = await runtimeWith({ store })
    const bytes = await parkedAt(runtime, store, 2)
    expect(await codeOf(runtime.restore(bytes, { grants: all }))).toBe('checkpoint_refused')
    expect(paid).toEqual(['{"n":1}'])
  })

  it('of another run, tenant or key does not do for this one', async () => {
    const store = createMemoryRunStore()
    const runtime = await runtimeWith({ store, checkpoints: { keys: mac(1) } })
    const other = await parkedAt(runtime, store, 1, { run: 'other' })
    const foreign = await parkedAt(runtime, store, 1, { run: 'foreign', domain: 'b' })
    await parkedAt(runtime, store, 1)
    const resume = (checkpoint: Uint8Array) => codeOf(runtime.resume('r', { grants: all, checkpoint }))
    expect([await resume(other), await resume(foreign)]).toEqual(['checkpoint_refused', 'checkpoint_refused'])
    const stranger = await runtimeWith({ store, checkpoints: { keys: mac(2) } })
    expect(await codeOf(stranger.resume('r', { grants: all }))).toBe('checkpoint_refused')
    expect(await codeOf(runtime.restore(foreign, { grants: all }))).toBe('checkpoint_refused')
    expect(paid).toEqual([])
  })

  it('put in the place of another one in the store is refused', async () => {
    const store = createMemoryRunStore()
    const runtime = await runtimeWith({ store })
    const other = await parkedAt(runtime, store, 1, { run: 'other' })
    await parkedAt(runtime, store, 1)
    const swapped: RunStore = { ...boundStore(store), getBlob: () => Promise.resolve(other) }
    const victim = await runtimeWith({ store: swapped })
    expect(await codeOf(victim.resume('r', { grants: all }))).toMatch(/corrupted|checkpoint_refused/)
    const empty: RunStore = { ...boundStore(store), getBlob: () => Promise.resolve(undefined) }
    expect(await codeOf((await runtimeWith({ store: empty })).resume('r', { grants: all }))).toBe('corrupted')
    expect(paid).toEqual([])
  })
})

describe('the log of a kept run', () => {
  /** A run that stopped before its second payment, with the first one in its log. */
  const paidOnce = async (keys: ReturnType<typeof mac> | undefined): Promise<RunStore> => {
    const store = createMemoryRunStore()
    const every = { calls: 1e6, ms: 1e9 }
    const runtime = await runtimeWith({ store, checkpoints: { every, ...(keys && { keys }) } })
    const stop = new AbortController()
    const hanging = [
      capability({
        name: 'bank.pay',
        description: 'Pays once, then hangs',
        effect: 'write',
        invoke: (args: unknown) => {
          paid.push(JSON.stringify(args))
          return paid.length === 1 ? 1 : new Promise(() => setTimeout(() => stop.abort(), 1))
        },
      }),
      ...bank.slice(1),
    ]
    const hangs = await runtimeWith({
      store,
      capabilities: hanging,
      checkpoints: { every, ...(keys && { keys }) },
    })
    await hangs.run(PAY_TWICE, { grants: all, run: 'r', signal: stop.signal })
    await runtime.close()
    return store
  }

  it('with any byte of any entry changed is refused where there is a key', async () => {
    const store = await paidOnce(mac(1))
    const entries = await store.entries('r', 0, 1_000)
    expect(entries.length).toBeGreaterThan(4)
    const codes = new Set<unknown>()
    for (const [number, entry] of entries.entries()) {
      for (const at of [0, 1, 2, 40, 60, entry.length >> 1, entry.length - 1]) {
        const forged = withEntries(store, (all) =>
          all.map((one, i) => {
            if (i !== number) return one
            const copy = one.slice()
            copy[at] = (copy[at] ?? 0) ^ 1
            return copy
          }),
        )
        const runtime = await runtimeWith({ store: forged, checkpoints: { keys: mac(1) } })
        codes.add(await codeOf(runtime.resume('r', { grants: all })))
      }
    }
    expect(codes).toEqual(new Set(['checkpoint_refused', 'corrupted']))
    expect(paid).toHaveLength(2)
  })

  it('with entries left out, doubled, swapped or of another run is refused, key or not', async () => {
    for (const keys of [undefined, mac(1)]) {
      paid.length = 0
      const store = await paidOnce(keys)
      const changes: ((entries: readonly Uint8Array[]) => readonly Uint8Array[])[] = [
        (entries) => entries.toSpliced(2, 1),
        (entries) => entries.toSpliced(3, 1),
        (entries) => entries.toSpliced(2, 0, entries[2] as Uint8Array),
        (entries) => [entries[0], entries[2], entries[1], ...entries.slice(3)] as Uint8Array[],
        (entries) => entries.slice(1),
        (entries) => [new Uint8Array(), ...entries.slice(1)],
        (entries) => entries.map(() => new Uint8Array(10)),
      ]
      for (const change of changes) {
        const runtime = await runtimeWith({
          store: withEntries(store, change),
          ...(keys && { checkpoints: { keys } }),
        })
        expect(await codeOf(runtime.resume('r', { grants: all }))).toMatch(/corrupted|checkpoint_refused/)
      }
      expect(paid).toHaveLength(2)
    }
  })

  it('that tells another story than the guest ends as diverged, with nothing done', async () => {
    const store = await paidOnce(undefined)
    const forged = retold(store, (entry) =>
      entry.type === 'intent' ? { ...entry, capability: 'bank.look' } : entry,
    )
    const runtime = await runtimeWith({ store: forged })
    const outcome = await runtime.resume('r', { grants: all })
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'diverged' } })
    expect(paid).toHaveLength(2)
  })
})

describe('a guest that goes on', () => {
  it('cannot use a right that was taken back meanwhile, also one that it held before', async () => {
    const runtime = await runtimeWith()
    const guest = await runtime.start(
      'const pay = bank.pay; await bank.look(); return await pay({ n: 1 }).catch((e) => e.code)',
      {
        grants: all,
      },
    )
    const bytes = await guest.checkpoint()
    let takenBack = false
    const right = { capability: 'bank.pay', revoked: () => takenBack }
    const again = await runtime.restore(bytes, { grants: [right, 'bank.look'] })
    await again.invoke(1)
    takenBack = true
    await again.invoke(2)
    expect(again.outcome).toMatchObject({ value: 'revoked' })
    const tighter = await runtime.restore(bytes, {
      grants: [{ capability: 'bank.pay', constrain: () => 'not today' }, 'bank.look'],
    })
    await tighter.invoke(1)
    await tighter.invoke(2)
    expect(tighter.outcome).toMatchObject({ value: 'denied' })
    expect(paid).toEqual([])
  })

  it('cannot settle its own calls: there is no resolver in its reach', async () => {
    const runtime = await runtimeWith()
    const source = `
      const own = Object.getOwnPropertyNames(globalThis).filter((name) => /resolve|settle|pending|caisson/i.test(name))
      const promise = bank.look()
      const kinds = Object.getOwnPropertyNames(promise).length
      const hijacked = []
      Promise.prototype.then = function (...handlers) { hijacked.push(handlers.length); return this }
      return [own, kinds, await promise]`
    const guest = await runtime.start(source, { grants: all })
    const again = await runtime.restore(await guest.checkpoint(), { grants: all })
    await again.invoke(1)
    expect(again.outcome).toMatchObject({ value: [[], 0, 'seen'] })
  })

  it('leaves no byte of another one in its memory or checkpoint', async () => {
    const runtime = await runtimeWith({ keepInstances: 1, instances: 1 })
    const secret = 'the-secret-of-a-'
    const source = `
      const kept = Array.from({ length: 2000 }, (_, i) => input + i)
      kept.map((one) => one + one)
      await bank.look()
      return kept.length`
    const memoryOf = async (bytes: Uint8Array): Promise<Buffer> => {
      const parent = { pages: base.pages }
      const { pages } = await decodeCheckpoint(bytes, parent, { ports: nodeCheckpointPorts })
      return Buffer.concat([...pages.pages()].map(([, page]) => page))
    }
    for (let i = 0; i < 5; i += 1) {
      const a = await runtime.start(source, { grants: all, input: secret })
      const before = await a.checkpoint()
      expect((await memoryOf(before)).includes(secret)).toBe(true)
      const held = await runtime.restore(before, { grants: all })
      a.dispose()
      held.dispose()
      const b = await runtime.start('await bank.look(); return 1', { grants: all })
      const again = await runtime.restore(await b.checkpoint(), { grants: all })
      expect((await memoryOf(await again.checkpoint())).includes(secret.slice(0, 8))).toBe(false)
      b.dispose()
      again.dispose()
    }
  })

  it('keeps the lives of two that were restored from one checkpoint apart', async () => {
    const runtime = await runtimeWith()
    const guest = await runtime.start(
      'let n = 0; for (let i = 0; i < 3; i++) n += (await bank.look()).length; return n',
      {
        grants: all,
      },
    )
    const bytes = await guest.checkpoint()
    const [one, two] = [
      await runtime.restore(bytes, { grants: all }),
      await runtime.restore(bytes, { grants: all }),
    ]
    await one.settle(1, 'a')
    await two.settle(1, 'bb')
    await one.settle(2, 'a')
    await two.settle(2, 'bb')
    await one.settle(3, 'a')
    await two.settle(3, 'bb')
    expect([one.outcome, two.outcome]).toMatchObject([{ value: 3 }, { value: 6 }])
  })
})
