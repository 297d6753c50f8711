/** Runs of plans that are gone on with from an image of their state, and not from all of their history. */
import { describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { nodeCheckpointPorts } from '../../host-bindings/system/checkpoint-ports.node.ts'
import { sha256 } from '../../src/base/digest.ts'
import {
  capability,
  openRuntime,
  type Plan,
  type Runtime,
  type RuntimeOptions,
} from '../../src/entry/node.ts'
import { openImage, sealImage } from '../../src/journal/journal-image.ts'
import type { RunStore } from '../../src/ports/run-store.ts'
import { encodeCanonical } from '../../src/values/encode-canonical.ts'

const ROUNDS = 40

const PLAN: Plan = {
  format: 'plan/1',
  name: 'counting',
  version: '1',
  grants: ['steps.next'],
  nodes: {
    count: {
      kind: 'loop',
      state: 0,
      until: { $eval: `at >= ${ROUNDS}`, with: { at: { $from: 'state' } } },
      most: 100,
      do: {
        nodes: { next: { kind: 'call', capability: 'steps.next', input: { at: { $from: 'state' } } } },
        output: { $from: 'next' },
      },
    },
    agree: { kind: 'approval', question: 'Enough?', show: { $from: 'count' } },
  },
  output: { $from: 'agree/value' },
}

const EVERY: RuntimeOptions = { checkpoints: { every: { records: 20 } } }

function tools() {
  return [
    capability({
      name: 'steps.next',
      description: 'The next number',
      effect: 'read',
      invoke: async (input) => (input as { readonly at: number }).at + 1,
    }),
  ]
}

/** The store, with some of its methods in other words. */
function around(store: RunStore, other: Partial<RunStore>): RunStore {
  return new Proxy(store, {
    get(target, name) {
      const method = (other as Record<PropertyKey, unknown>)[name] ?? Reflect.get(target, name)
      return typeof method === 'function' ? method.bind(target) : method
    },
  })
}

async function using<T>(
  store: RunStore,
  options: RuntimeOptions,
  work: (runtime: Runtime) => Promise<T>,
): Promise<T> {
  const runtime = await openRuntime({ capabilities: tools(), store, ...options })
  try {
    return await work(runtime)
  } finally {
    await runtime.close()
  }
}

/** Up to where it asks a person. */
async function untilAsked(store: RunStore, options: RuntimeOptions = EVERY): Promise<void> {
  await using(store, options, async (runtime) => {
    const run = await runtime.propose(PLAN, { by: 'ann', run: 'r' })
    await run.approve({ by: 'ann', digest: (await run.view()).request })
    await run.start({ by: 'ann' })
    expect(await run.outcome()).toMatchObject({ status: 'waiting', requests: 1 })
  })
}

async function decided(runtime: Runtime): Promise<unknown> {
  const run = await runtime.planRun('r')
  const [asked] = await run.requests()
  await run.decide({ request: asked?.digest as never, by: 'bob', decision: 'approve' })
  await run.resume({ by: 'bob' })
  return run.outcome()
}

async function imageIn(store: RunStore): Promise<{ digest: string; position: number; entries: number }> {
  const head = await store.head('r')
  const entries = await store.entries('r', 0, 10_000)
  return { digest: head?.chain[1] as string, position: head?.position ?? 0, entries: entries.length }
}

describe('an image of a run', () => {
  it('is all that is read of what it shows, and leads to the same', async () => {
    const store = createMemoryRunStore()
    await untilAsked(store)
    const { position, entries } = await imageIn(store)
    expect(entries).toBeGreaterThan(100)
    expect(position).toBeGreaterThan(entries - 60)
    let lowest = Number.POSITIVE_INFINITY
    const watched = around(store, {
      entries: (run, from, most) => {
        if (run === 'r') lowest = Math.min(lowest, from)
        return store.entries(run, from, most)
      },
    })
    await using(watched, EVERY, async (runtime) => {
      expect(await decided(runtime)).toMatchObject({ status: 'completed', output: ROUNDS })
    })
    expect(lowest).toBeGreaterThanOrEqual(position - 1)
    await using(store, {}, async (runtime) => {
      expect(await runtime.verify('r')).toMatchObject({ ok: true, unchecked: [] })
      expect((await (await runtime.planRun('r')).view()).used.calls).toBe(ROUNDS)
    })
  })

  it('is passed over where it is damaged or gone, and that is told; verifying names it', async () => {
    const store = createMemoryRunStore()
    await untilAsked(store)
    const { digest, position } = await imageIn(store)
    const changed: readonly ((bytes: Uint8Array) => Uint8Array | undefined)[] = [
      () => undefined,
      (bytes) => bytes.slice(0, -1),
      (bytes) => bytes.map((byte, i) => (i === bytes.length >> 1 ? byte ^ 1 : byte)),
    ]
    for (const change of changed) {
      const hostile = around(store, {
        getBlob: async (id) => {
          const bytes = await store.getBlob(id)
          return id === digest && bytes !== undefined ? change(bytes) : bytes
        },
      })
      const told: unknown[] = []
      const telemetry = { event: (name: string, more: object) => told.push([name, more]) }
      await using(hostile, { ...EVERY, telemetry }, async (runtime) => {
        expect(await (await runtime.planRun('r')).view()).toMatchObject({ status: 'waiting', requests: 1 })
        const { ok, difference } = await runtime.verify('r')
        expect([ok, difference]).toMatchObject([false, { of: 'image', position: position - 1 }])
      })
      expect(told).toContainEqual([
        'image.passed_over',
        { code: expect.stringMatching(/corrupted|not_found/) },
      ])
    }
  })

  it('is never taken for another journal: one that was cut off or changed before it is an error', async () => {
    const store = createMemoryRunStore()
    await untilAsked(store)
    const { position } = await imageIn(store)
    const short = around(store, {
      entries: async (run, from, most) => store.entries(run, from, Math.min(most, Math.max(0, 40 - from))),
    })
    const other = around(store, {
      entries: async (run, from, most) => {
        const entries = await store.entries(run, from, most)
        return entries.map((bytes, i) => (from + i === position - 1 ? bytes.map((b) => b ^ 1) : bytes))
      },
    })
    for (const hostile of [short, other]) {
      await using(hostile, EVERY, async (runtime) => {
        await expect(runtime.planRun('r')).rejects.toMatchObject({
          code: 'corrupted',
          details: { run: 'r', at: position - 1 },
        })
      })
    }
    await using(store, EVERY, async (runtime) => {
      expect(await decided(runtime)).toMatchObject({ status: 'completed' })
    })
  })

  it('with a key is taken only with it, and one that shows something else is found by verifying', async () => {
    const key = (id: string, fill: number) => ({ current: { id, bytes: new Uint8Array(32).fill(fill) } })
    const keyed: RuntimeOptions = { checkpoints: { every: { records: 20 }, keys: { mac: key('m', 1) } } }
    const store = createMemoryRunStore()
    await untilAsked(store, keyed)
    const { position } = await imageIn(store)
    const head = await store.head('r')
    const [entry] = await store.entries('r', position - 1, 1)
    const end = { length: position, digest: sha256(entry as Uint8Array) }
    const forge = async (fill: number): Promise<RunStore> => {
      const sealing = { ports: nodeCheckpointPorts, keys: { mac: key('m', fill) } }
      const { state } = await readStateOf(store, head?.chain[1] as never, position, key('m', 1))
      const bytes = encodeCanonical({ ...(state as object), calls: 7 })
      const sealed = await sealImage({ run: 'r', tenant: 'default', sealing }, end, bytes)
      const id = sha256(sealed)
      return around(store, {
        head: async (run) => {
          const found = await store.head(run)
          return found && run === 'r'
            ? { ...found, chain: found.chain.map((one, i) => (i === 1 ? id : one)) }
            : found
        },
        getBlob: async (digest) => (digest === id ? sealed : store.getBlob(digest)),
      })
    }
    await using(await forge(2), keyed, async (runtime) => {
      const { difference } = await runtime.verify('r')
      expect(difference).toMatchObject({ of: 'image', message: expect.stringMatching(/MAC is wrong/) })
      expect((await (await runtime.planRun('r')).view()).requests).toBe(1)
    })
    await using(await forge(1), keyed, async (runtime) => {
      const { difference } = await runtime.verify('r')
      expect(difference).toMatchObject({ of: 'image', message: expect.stringMatching(/something else/) })
    })
  })
})

async function readStateOf(
  store: RunStore,
  digest: never,
  at: number,
  mac: object,
): Promise<{ state: unknown }> {
  const sealing = { ports: nodeCheckpointPorts, keys: { mac } } as never
  const sealed = (await store.getBlob(digest)) as Uint8Array
  return openImage({ run: 'r', tenant: 'default', sealing }, at, sealed)
}
