import { describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { capability, openRuntime } from '../../src/entry/node.ts'

const work = capability({
  name: 'work',
  description: 'Does something',
  effect: 'read',
  invoke: async (n: unknown) => Number(n) * 2,
})

const SOURCE = `import { twice } from './lib.js'
const first = await twice(1)
const { later } = await import('./later.js')
export default [first, await later(3)]`

const STATIC = { './lib.js': 'export const twice = (n) => work(n)' }
const LATER = {
  './later.js': "import { twice } from './lib.js'\nexport const later = async (n) => (await twice(n)) + 1",
}

describe('a kept run of several modules', () => {
  it('goes on in another process, which gives what is imported later', async () => {
    const store = createMemoryRunStore()
    const one = await openRuntime({ store, capabilities: [work], checkpoints: { every: { calls: 1 } } })
    const parked = await one.run(SOURCE, { run: 'r', grants: ['work'], modules: STATIC, stopAtCall: 2 })
    expect(parked).toMatchObject({
      status: 'suspended',
      pending: [{ id: 2, capability: 'caisson.loadModule' }],
    })
    await one.close()

    const other = await openRuntime({ store, capabilities: [work] })
    const asked: string[] = []
    const loadModule = (module: string): string | undefined => {
      asked.push(module)
      return { ...STATIC, ...LATER }[module]
    }
    const outcome = await other.resume('r', { grants: ['work'], loadModule, stateDigest: true })
    expect(outcome).toMatchObject({ status: 'completed', value: [2, 7] })
    expect(asked).toEqual(['./later.js', './lib.js'])

    const again = await other.repeat('r', { grants: ['work'], stateDigest: true })
    expect(again).toMatchObject({ status: 'completed', value: [2, 7], stateDigest: outcome.stateDigest })
    await other.close()
  })

  it('is taken again from its log alone, without anybody who gives modules', async () => {
    const store = createMemoryRunStore()
    const one = await openRuntime({
      store,
      capabilities: [work],
      checkpoints: { every: { calls: 1_000, ms: 1e9 } },
    })
    const modules = { ...STATIC, ...LATER }
    const outcome = await one.run(SOURCE, { run: 'r', grants: ['work'], modules, stateDigest: true })
    expect(outcome).toMatchObject({ status: 'completed', value: [2, 7] })
    await one.close()

    const other = await openRuntime({ store, capabilities: [work] })
    expect(await other.repeat('r', { grants: ['work'], stateDigest: true })).toMatchObject({
      status: 'completed',
      value: [2, 7],
      stateDigest: outcome.stateDigest,
    })
    await other.close()
  })

  it('is not gone on with where nobody gives what it imports', async () => {
    const store = createMemoryRunStore()
    const one = await openRuntime({ store, capabilities: [work], checkpoints: { every: { calls: 1 } } })
    await one.run(SOURCE, { run: 'r', grants: ['work'], modules: STATIC, stopAtCall: 2 })
    await expect(one.resume('r', { grants: ['work'] })).rejects.toMatchObject({ code: 'checkpoint_refused' })
    expect(await one.resume('r', { grants: ['work'], modules: { ...STATIC, ...LATER } })).toMatchObject({
      status: 'completed',
    })
    await one.close()
  })
})

describe('a program of several modules', () => {
  it('is the same in a Worker, and with one instance for all guests', async () => {
    const modules = { ...STATIC, ...LATER }
    const run = { grants: ['work'], modules, seed: 1, stateDigest: true } as const
    const clock = { now: () => 1_000, monotonic: () => performance.now() }
    const runtime = await openRuntime({ capabilities: [work], clock })
    const few = await openRuntime({ capabilities: [work], clock, instances: 1 })
    const [here, there, ...others] = await Promise.all([
      runtime.run(SOURCE, run),
      runtime.run(SOURCE, { ...run, thread: 'worker' }),
      few.run(SOURCE, run),
      few.run(SOURCE, run),
      few.run(SOURCE, run),
    ])
    expect(here).toMatchObject({ status: 'completed', value: [2, 7] })
    for (const { stateDigest, usage } of [there, ...others]) {
      expect(stateDigest).toBe(here.stateDigest)
      expect(usage.fuel).toBe(here.usage.fuel)
    }
    await runtime.close()
    await few.close()
  })
})
