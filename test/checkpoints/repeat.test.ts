/** Runs that are taken again from their record: nobody is asked, nothing is written, and all is as it was. */
import { describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import {
  CaissonError,
  capability,
  type Outcome,
  openRuntime,
  type RunStore,
  type Runtime,
} from '../../src/entry/node.ts'

const SOURCE = `
const seen = []
for (let i = 0; i < 6; i++) seen.push(await shop.price({ i }), clock.tick(), Date.now(), Math.random())
return seen
`
const GRANTS = ['shop.price', 'clock.tick']
const FOREVER = 2 ** 40

/** A shop whose clock goes on, and that can be shut. */
function openShop(open = true) {
  const asked: unknown[] = []
  const ask = (what: unknown): number => {
    asked.push(what)
    if (!open) throw new Error('shut')
    return asked.length
  }
  return {
    asked,
    capabilities: [
      capability({ name: 'shop.price', description: 'A price', effect: 'read', invoke: async (i) => ask(i) }),
      capability({
        name: 'clock.tick',
        description: 'Counts',
        effect: 'read',
        sync: true,
        invoke: () => ask('tick'),
      }),
    ],
  }
}

const kept = async (calls: number, options: object = {}): Promise<readonly [RunStore, Outcome]> => {
  const store = createMemoryRunStore()
  const { capabilities } = openShop()
  const runtime = await openRuntime({ capabilities, store, checkpoints: { every: { calls, ms: FOREVER } } })
  const outcome = await runtime.run(SOURCE, { grants: GRANTS, run: 'r', stateDigest: true, ...options })
  await runtime.close()
  return [store, outcome]
}

const inShutShop = async (
  store: RunStore,
  work: (runtime: Runtime) => Promise<void>,
): Promise<readonly unknown[]> => {
  const { asked, capabilities } = openShop(false)
  const runtime = await openRuntime({ capabilities, store, clock: { now: () => 0, monotonic: () => 0 } })
  await work(runtime)
  await runtime.close()
  return asked
}

describe('a run that is taken again', () => {
  it.each([
    ['its start', FOREVER],
    ['a checkpoint', 4],
  ])('ends as it ended, with the same digest, from %s', async (_, calls) => {
    const [store, outcome] = await kept(calls)
    const before = await store.entries('r', 0, 1000)
    const asked = await inShutShop(store, async (runtime) => {
      const again = await runtime.repeat('r', { grants: GRANTS, stateDigest: true })
      expect(again).toMatchObject({
        status: 'completed',
        value: outcome.status === 'completed' && outcome.value,
        stateDigest: outcome.stateDigest,
      })
      expect(again.usage.fuel).toBe(outcome.usage.fuel)
      expect(again.usage.calls).toBe(12)
    })
    expect(asked).toEqual([])
    expect(await store.entries('r', 0, 1000)).toEqual(before)
  })

  it('is suspended where its record ends before its end, also while somebody else holds it', async () => {
    const [store] = await kept(4, { stopAtCall: 9 })
    const lease = await store.lease('r', 60_000)
    const asked = await inShutShop(store, async (runtime) => {
      const again = await runtime.repeat('r', { grants: GRANTS })
      expect(again).toMatchObject({ status: 'suspended', pending: [{ id: 9, capability: 'shop.price' }] })
    })
    await lease.release()
    expect(asked).toEqual([])
  })

  it('ends where a limit ended it', async () => {
    const [store, outcome] = await kept(FOREVER, { limits: { calls: 7 } })
    expect(outcome).toMatchObject({ status: 'exhausted', limit: 'calls' })
    await inShutShop(store, async (runtime) => {
      expect(await runtime.repeat('r', { grants: GRANTS })).toMatchObject({
        status: 'exhausted',
        limit: 'calls',
      })
    })
  })

  it('is refused to other tenants, under other grants, and where there is none', async () => {
    const [store] = await kept(FOREVER)
    await inShutShop(store, async (runtime) => {
      const refusal = (run: string, options: object): Promise<unknown> =>
        runtime.repeat(run, options).catch((error: unknown) => CaissonError.is(error) && error.code)
      expect(await refusal('r', { grants: GRANTS, domain: 'b' })).toBe('checkpoint_refused')
      expect(await refusal('r', { grants: ['shop.price'] })).toBe('checkpoint_refused')
      expect(await refusal('other', { grants: GRANTS })).toBe('not_found')
      expect(await refusal('../r', { grants: GRANTS })).toBe('invalid_argument')
    })
  })
})

describe('a run that is gone on with', () => {
  it('tells how many answers it did not ask for again', async () => {
    const [store] = await kept(4, { stopAtCall: 9 })
    const { capabilities } = openShop()
    const events: unknown[] = []
    const runtime = await openRuntime({
      capabilities,
      store,
      telemetry: {
        event: (name, attributes) => {
          if (name !== 'guest.live') events.push([name, attributes])
        },
      },
    })
    await runtime.resume('r', { grants: GRANTS })
    await runtime.close()
    expect(events).toEqual([['run.resumed', { answersRepeated: 0, callsUnanswered: 0 }]])
  })
})
