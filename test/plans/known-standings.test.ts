/** A runtime that looked at a run reads what came since, and sees whatever came. */
import { describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { capability, openRuntime, type Plan, type RunStore, type Runtime } from '../../src/entry/node.ts'
import { boundStore } from '../checkpoints/bound-store.ts'

const STEPS = 30

const step = capability({
  name: 'steps.next',
  description: 'The next number',
  effect: 'read',
  invoke: async (input) => (input as { readonly at: number }).at + 1,
})

function planOf(version: string): Plan {
  const names = Array.from({ length: STEPS }, (_, i) => `s${i}`)
  const steps = names.map((name, i) => [
    name,
    { kind: 'call', capability: 'steps.next', input: { at: { $from: names[i - 1] ?? 'input' } } },
  ])
  const last = { $from: names.at(-1) ?? '' }
  return {
    format: 'plan/1',
    name: 'steps',
    version,
    grants: ['steps.next'],
    nodes: {
      ...Object.fromEntries(steps),
      first: { kind: 'approval', question: 'Enough?', show: last },
      second: { kind: 'approval', question: 'Really?', show: last, after: ['first'] },
    },
  }
}

function open(store: RunStore): Promise<Runtime> {
  return openRuntime({ capabilities: [step], store })
}

/** Up to where it asks a person. */
async function begin(runtime: Runtime, version: string): Promise<void> {
  const run = await runtime.propose(planOf(version), { by: 'ann', run: 'r', input: 0 })
  await run.approve({ by: 'ann', digest: (await run.view()).request })
  await run.start({ by: 'ann' })
  expect(await run.outcome()).toMatchObject({ status: 'waiting', requests: 1 })
}

async function decide(runtime: Runtime): Promise<void> {
  const run = await runtime.planRun('r')
  const [asked] = await run.requests()
  await run.decide({ request: asked?.digest as never, by: 'bob', decision: 'approve' })
  await run.resume({ by: 'bob' })
  await run.outcome()
}

async function using<T>(store: RunStore, work: (runtime: Runtime) => Promise<T>): Promise<T> {
  const runtime = await open(store)
  try {
    return await work(runtime)
  } finally {
    await runtime.close()
  }
}

describe('a run that was looked at', () => {
  it('is read from its beginning once, whatever is done with it after that', async () => {
    const memory = createMemoryRunStore()
    await using(memory, (runtime) => begin(runtime, '1'))
    let fromTheBeginning = 0
    const store: RunStore = {
      ...boundStore(memory),
      entries: (run, from, most) => {
        if (run === 'r' && from === 0) fromTheBeginning += 1
        return memory.entries(run, from, most)
      },
    }
    await using(store, async (runtime) => {
      await decide(runtime)
      const run = await runtime.planRun('r')
      expect(await run.view()).toMatchObject({ status: 'waiting', requests: 1 })
      await decide(runtime)
      expect(await run.outcome()).toMatchObject({ status: 'completed' })
    })
    expect(fromTheBeginning).toBe(1)
  })

  it('shows what another process did since, and takes it up from there', async () => {
    const store = createMemoryRunStore()
    await using(store, async (one) => {
      await begin(one, '1')
      const run = await one.planRun('r')
      const before = await run.view()
      await using(store, decide)
      const after = await run.view()
      expect(after.events).toBeGreaterThan(before.events)
      expect(after.point).not.toBe(before.point)
      expect(after.nodes.find(({ path }) => path === 'first')).toMatchObject({ status: 'completed' })
      await decide(one)
      expect(await run.view()).toMatchObject({ status: 'completed' })
    })
  })

  it('is read anew where another one has its name, or its journal is another one', async () => {
    const store = createMemoryRunStore()
    await using(store, async (one) => {
      await begin(one, '1')
      expect(await (await one.planRun('r')).view()).toMatchObject({ plan: { version: '1' } })
      await using(store, async (other) => {
        await store.remove('r', await store.lease('r', 1_000))
        await begin(other, '2')
      })
      expect(await (await one.planRun('r')).view()).toMatchObject({
        plan: { version: '2' },
        status: 'waiting',
      })
    })
  })
})
