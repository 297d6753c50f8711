/** Runs that are taken from their start on another engine build: all that was answered is known, nothing is done twice. */
import { beforeAll, describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { nodeCheckpointPorts } from '../../host-bindings/system/checkpoint-ports.node.ts'
import {
  capability,
  type Outcome,
  openRuntime,
  type ResumeOptions,
  type RunStore,
  type Runtime,
} from '../../src/entry/node.ts'
import { describeRun } from '../../src/runtime/describe-run.ts'
import { EntryCodec } from '../../src/snapshot/run-log/entry-codec.ts'
import { boundStore } from './bound-store.ts'
import { renamedEngine } from './renamed-engine.ts'

const SEALING = { ports: nodeCheckpointPorts }
const GRANTS = ['shop.price', 'shop.order', 'shop.tick']
const SOURCE = `
const seen = []
for (const sku of ['A', 'B', 'C']) {
  const price = await shop.price(sku)
  seen.push(await shop.order({ sku, price }), shop.tick(), Math.random(), Date.now())
}
return seen`

/** A world that says what was done to it. */
function openWorld() {
  const done: string[] = []
  const note = (what: string): string => {
    done.push(what)
    return what
  }
  const capabilities = [
    capability({
      name: 'shop.price',
      description: 'A price',
      effect: 'read',
      invoke: (sku) => note(`price ${sku}`).length,
    }),
    capability({
      name: 'shop.order',
      description: 'An order',
      effect: 'write',
      invoke: (order) => note(`order ${(order as { sku: string }).sku}`),
    }),
    capability({
      name: 'shop.tick',
      description: 'Ticks',
      effect: 'read',
      sync: true,
      invoke: () => done.length,
    }),
  ]
  return { capabilities, done }
}

let engines: Awaited<ReturnType<typeof renamedEngine>>
beforeAll(async () => {
  engines = await renamedEngine()
})

const using = async <T>(options: object, work: (runtime: Runtime) => Promise<T>): Promise<T> => {
  const runtime = await openRuntime(options)
  try {
    return await work(runtime)
  } finally {
    await runtime.close()
  }
}

const cameTo = (outcome: Outcome): unknown => (outcome.status === 'completed' ? outcome.value : outcome)

describe('a run of another engine build', () => {
  /** Parks a run on the other engine at a call, with or without checkpoints before. */
  const parkElsewhere = (store: RunStore, world: ReturnType<typeof openWorld>, source = SOURCE) =>
    using(
      { engines, store, capabilities: world.capabilities, checkpoints: { every: { calls: 2 } } },
      (runtime) => runtime.run(source, { grants: GRANTS, run: 'r', seed: 1, stopAtCall: 4 }),
    )
  const resumeHere = (store: RunStore, world: ReturnType<typeof openWorld>, more: ResumeOptions = {}) =>
    using({ store, capabilities: world.capabilities }, (runtime) =>
      runtime.resume('r', { grants: GRANTS, ...more }),
    )

  it('is refused by name, and goes on from its record with nothing asked twice', async () => {
    const store = createMemoryRunStore()
    const world = openWorld()
    expect((await parkElsewhere(store, world)).engine).toBe(engines.ids[0])
    await expect(resumeHere(store, world)).rejects.toMatchObject({ code: 'engine_mismatch' })
    const outcome = await resumeHere(store, world, { reexecute: true })
    expect(outcome).toMatchObject({ status: 'completed', usage: { calls: 9 } })
    expect(outcome.engine).not.toBe(engines.ids[0])
    expect(world.done).toEqual(['price A', 'order A', 'price B', 'order B', 'price C', 'order C'])
    const straight = openWorld()
    const value = await using({ capabilities: straight.capabilities }, (runtime) =>
      runtime.run(SOURCE, { grants: GRANTS, seed: 1 }),
    )
    const untimed = (seen: unknown): unknown => (seen as unknown[]).filter((_, i) => i % 4 !== 3)
    expect(untimed(cameTo(outcome))).toEqual(untimed(cameTo(value)))
    // Its end stands in its record: it needs neither engine any more.
    expect(await resumeHere(store, world)).toMatchObject({ status: 'completed', value: cameTo(outcome) })
  })

  it('can be parked here and go on from its new checkpoint', async () => {
    const store = createMemoryRunStore()
    const world = openWorld()
    await parkElsewhere(store, world)
    const parked = await resumeHere(store, world, { reexecute: true, stopAtCall: 6 })
    expect(parked).toMatchObject({ status: 'suspended', checkpoint: expect.any(String) })
    expect((await store.head('r'))?.chain).toEqual([parked.checkpoint])
    expect(await resumeHere(store, world)).toMatchObject({ status: 'completed' })
    expect(new Set(world.done).size).toBe(world.done.length)
  })

  it('is diverged where the program does something else now, with nothing changed', async () => {
    const parked = createMemoryRunStore()
    const world = openWorld()
    await parkElsewhere(parked, world)
    // A build that behaves otherwise is not at hand: another program in the same record does as well.
    const store = createMemoryRunStore()
    const [from, to] = [new EntryCodec(SEALING), new EntryCodec(SEALING)]
    const sealed: Uint8Array[] = []
    for (const [at, bytes] of (await parked.entries('r', 0, 1_000)).entries()) {
      const place = { tenant: 'default', run: 'r', at }
      const entry = await from.open(bytes, place)
      const other = SOURCE.replace("['A', 'B', 'C']", "['A', 'B']").replace(
        'shop.price(sku)',
        'shop.order(sku)',
      )
      sealed.push(await to.seal(entry.type === 'start' ? { ...entry, source: other } : entry, place))
    }
    const lease = await store.lease('r', 1_000)
    await store.append('r', 0, sealed, lease)
    await lease.release()
    const before = [...world.done]
    const { since: counted } = await describeRun(store, 'r', SEALING, 'default')
    const { intent, result, turn } = counted
    const told = { since: { intent, result, turn } }
    const outcome = await resumeHere(store, world, { reexecute: true })
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'diverged' }, resumable: true })
    expect(outcome.status === 'failed' && outcome.error.message).toContain('call 1 was of "shop.price"')
    expect(world.done).toEqual(before)
    const { since, end } = await describeRun(store, 'r', SEALING, 'default')
    expect({ since, end }).toMatchObject({ since: told.since, end: undefined })
  })

  it('is taken from its start where its checkpoint is lost', async () => {
    const whole = createMemoryRunStore()
    const world = openWorld()
    const options = { capabilities: world.capabilities }
    await using({ ...options, store: whole }, (runtime) =>
      runtime.run(SOURCE, { grants: GRANTS, run: 'r', stopAtCall: 4 }),
    )
    const store: RunStore = { ...boundStore(whole), getBlob: () => Promise.resolve(undefined) }
    await expect(resumeHere(store, world)).rejects.toMatchObject({ code: 'corrupted' })
    expect(await resumeHere(store, world, { reexecute: true })).toMatchObject({ status: 'completed' })
    expect(new Set(world.done).size).toBe(world.done.length)
  })
})
