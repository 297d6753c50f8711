/**
 * Runs that somebody is making, taking over, giving away, erasing or cutting so slowly that the lease of it runs out, and
 * others come: what these made is left alone, however late the slow one wakes up.
 */
import { describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { CaissonError, capability, openRuntime, type Plan, type Runtime } from '../../src/entry/node.ts'
import type { RunStore } from '../../src/ports/run-store.ts'

const PLAN: Plan = {
  format: 'plan/1',
  name: 'said',
  version: '1',
  grants: ['echo.say'],
  nodes: {
    kept: {
      kind: 'program',
      source: 'return await echo.say(input)',
      input: { $from: 'input' },
      grants: ['echo.say'],
    },
  },
  output: { $from: 'kept' },
}

interface World {
  readonly store: RunStore
  /** Time passes: leases run out. */
  pass(): void
}

function openWorld(): World {
  let now = 1e12
  return {
    store: createMemoryRunStore({ clock: { now: () => now, monotonic: () => now } }),
    pass: () => {
      now += 3_600_000
    },
  }
}

async function using<T>(store: RunStore, work: (runtime: Runtime) => Promise<T>): Promise<T> {
  const say = capability({
    name: 'echo.say',
    description: 'Says it again',
    effect: 'read',
    invoke: async (said) => `${said}`,
  })
  const runtime = await openRuntime({ store, capabilities: [say] })
  try {
    return await work(runtime)
  } finally {
    await runtime.close()
  }
}

async function complete(runtime: Runtime, input: string): Promise<void> {
  const run = await runtime.propose(PLAN, { by: 'ann', run: 'r', input, erasable: true })
  await run.approve({ by: 'ann', digest: (await run.view()).request })
  await run.start({ by: 'ann' })
  expect(await run.outcome()).toMatchObject({ status: 'completed', output: input })
}

async function removeAll({ store }: World): Promise<void> {
  for (const name of await store.runs()) {
    const lease = await store.lease(name, 1_000)
    await store.remove(name, lease)
    await lease.release()
  }
}

/** The store, of which the lease number `at` takes so long that `others` come first. */
function slowAt(store: RunStore, at: number, others: () => Promise<void>): RunStore {
  let leases = 0
  return new Proxy(store, {
    get(target, name) {
      const method = Reflect.get(target, name)
      if (typeof method !== 'function') return method
      return async (...args: unknown[]) => {
        if (name === 'lease' && leases++ === at) await others()
        return method.apply(target, args)
      }
    },
  })
}

type Work = (runtime: Runtime) => Promise<unknown>

/** A run of the same name, as a file. */
const file = await using(createMemoryRunStore(), async (runtime) => {
  await complete(runtime, 'taken')
  return runtime.exportRun('r')
})

const compact: Work = (runtime) => runtime.compact('r', { by: 'carol' })
const propose: Work = (runtime) =>
  runtime.propose(PLAN, { by: 'slow', run: 'r', input: 'slow', erasable: true })

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'done'
  } catch (error) {
    if (CaissonError.is(error)) return error.code
    throw error
  }
}

/** Every lease but the first is one that is taken while the run is held. */
async function atEachLease(
  work: Work,
  before: Work | undefined,
  others: (world: World) => Promise<void>,
): Promise<void> {
  for (let at = 1; ; at += 1) {
    const world = openWorld()
    if (before !== undefined) await using(world.store, before)
    let isSlow = false
    const slow = slowAt(world.store, at, async () => {
      isSlow = true
      world.pass()
      await others(world)
    })
    const code = await using(slow, (runtime) => codeOf(work(runtime)))
    if (!isSlow) return
    // Done: what it was about was done by then, and the other one is left alone.
    expect(['lease_lost', 'already_exists', 'store_conflict', 'done'], `at lease ${at}`).toContain(code)
    await using(world.store, async (runtime) => {
      const run = await runtime.planRun('r')
      expect(await run.view()).toMatchObject({ status: 'completed' })
      expect((await run.view()).erased).toBeUndefined()
      expect(await run.outcome(), `at lease ${at}`).toMatchObject({ output: 'next' })
      expect(await runtime.verify('r'), `at lease ${at}`).toMatchObject({ ok: true })
    })
    expect(at).toBeLessThan(30)
  }
}

const completeFirst: Work = (runtime) => complete(runtime, 'first')
const again = async (world: World): Promise<void> => {
  await removeAll(world)
  await using(world.store, (runtime) => complete(runtime, 'next'))
}
const next = (world: World): Promise<void> => using(world.store, (runtime) => complete(runtime, 'next'))

describe('who is overtaken', () => {
  it('while erasing leaves the next run of the name its values', () =>
    atEachLease((runtime) => runtime.erase('r', { by: 'dave' }), completeFirst, again))

  it('while cutting leaves the next run of the name its programs', () =>
    atEachLease(compact, completeFirst, again))

  it('while proposing leaves the next run of the name its key', () => atEachLease(propose, undefined, next))

  it('while importing leaves the next run of the name its parts', () =>
    atEachLease((runtime) => runtime.importRun(file), undefined, next))

  it('while cutting, by somebody who cuts it too, takes away nothing of what stands in the place of the journal', async () => {
    for (let at = 1; ; at += 1) {
      const world = openWorld()
      await using(world.store, completeFirst)
      let isSlow = false
      const slow = slowAt(world.store, at, async () => {
        isSlow = true
        world.pass()
        await using(world.store, compact)
      })
      await using(slow, (runtime) => codeOf(compact(runtime)))
      if (!isSlow) return
      await using(world.store, async (runtime) => {
        expect(await runtime.verify('r'), `at lease ${at}`).toMatchObject({ ok: true, cut: { by: 'carol' } })
        expect(await (await runtime.planRun('r')).outcome()).toMatchObject({ output: 'first' })
      })
    }
  })

  it('by nobody but people who look at the run goes on with it', async () => {
    const world = openWorld()
    let answer: (value: string) => void = () => {}
    const slow = capability({
      name: 'echo.say',
      description: 'Says it again, when it is let',
      effect: 'write',
      invoke: () => new Promise<string>((resolve) => (answer = resolve)),
    })
    const runtime = await openRuntime({ store: world.store, capabilities: [slow] })
    try {
      const call = { kind: 'call', capability: 'echo.say' } as const
      const plan: Plan = {
        ...PLAN,
        nodes: { call, sum: { kind: 'program', source: 'return 1', after: ['call'] } },
        output: { $from: 'sum' },
      }
      const run = await runtime.propose(plan, { by: 'ann', run: 'r' })
      await run.approve({ by: 'ann', digest: (await run.view()).request })
      await run.start({ by: 'ann' })
      const look = (): Promise<string> =>
        using(world.store, async (other) => (await (await other.planRun('r')).view()).status)
      await expect.poll(look).toBe('running')
      // A process that is stopped, a machine that sleeps.
      world.pass()
      expect(await look()).toBe('interrupted')
      answer('said')
      expect(await run.outcome()).toMatchObject({ status: 'completed', output: 1 })
    } finally {
      await runtime.close()
    }
  })

  it('while exporting gives no file of two moments', async () => {
    const world = openWorld()
    await using(world.store, completeFirst)
    const slow = new Proxy(world.store, {
      get(target, name) {
        const method = Reflect.get(target, name)
        if (typeof method !== 'function') return method
        return async (...args: unknown[]) => {
          if (name === 'runs') {
            world.pass()
            await again(world)
          }
          return method.apply(target, args)
        }
      },
    })
    expect(await using(slow, (runtime) => codeOf(runtime.exportRun('r')))).toBe('lease_lost')
  })
})
