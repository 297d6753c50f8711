/** What runs of plans spend, over real guests, the real gate and processes that die: nobody has more than was given. */
import { afterEach, describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import {
  CaissonError,
  capability,
  openRuntime,
  type Plan,
  type PlanNode,
  type PlanOutcome,
  type PlanRun,
  type ResumePlanOptions,
  type Runtime,
  reportOf,
} from '../../src/entry/node.ts'
import type { RecordedEvent } from '../../src/graph/run/run-event.ts'
import type { RunStore } from '../../src/ports/run-store.ts'

/** Calls that were made, by their arguments. */
let made: unknown[] = []
let asked = 0

const TOOLS = [
  capability({
    name: 'shop.price',
    description: 'Price of a product',
    effect: 'read',
    cost: () => ({ cents: 2 }),
    invoke: async (input: unknown) => {
      made.push(input)
      return { price: 7 }
    },
  }),
  capability({
    name: 'shop.flaky',
    description: 'Works the second time',
    effect: 'read',
    expose: ['network_failed', 'rate_limited'],
    invoke: async (input: unknown) => {
      asked += 1
      const { status } = input as { status: number }
      if (status === 0) (undefined as unknown as () => void)()
      if (asked > 1) return 'ok'
      throw new CaissonError('rate_limited', 'slow down', { details: { retryAfterMs: 5 } })
    },
  }),
]

const open: Runtime[] = []
afterEach(async () => {
  made = []
  asked = 0
  for (const runtime of open.splice(0)) await runtime.close()
})

async function process(store: RunStore): Promise<Runtime> {
  const runtime = await openRuntime({ capabilities: TOOLS, store })
  open.push(runtime)
  return runtime
}

function planOf(nodes: Record<string, PlanNode>, more: Partial<Plan> = {}): Plan {
  return { format: 'plan/1', name: 'p', version: '1', grants: ['shop.price', 'shop.flaky'], nodes, ...more }
}

async function started(
  plan: Plan,
  store: RunStore = createMemoryRunStore(),
): Promise<[PlanRun, PlanOutcome]> {
  const run = await (await process(store)).propose(plan, { by: 'ann', run: 'r' })
  await run.approve({ by: 'bob', digest: (await run.view()).request })
  await run.start({ by: 'bob' })
  return [run, await run.outcome()]
}

/** Another process goes on, because somebody says so. */
async function goOn(store: RunStore, more?: ResumePlanOptions['more']): Promise<PlanOutcome> {
  const run = await (await process(store)).planRun('r')
  await run.resume({ by: 'bob', unseen: true, ...(more && { more }) })
  return run.outcome()
}

async function eventsOf(run: PlanRun): Promise<readonly RecordedEvent[]> {
  const events: RecordedEvent[] = []
  for await (const { event } of run.events({ until: 'now' })) events.push(event)
  return events
}

const asks = (count: number, more: object = {}): PlanNode => ({
  kind: 'program',
  source: `let sum = 0; for (let i = 0; i < ${count}; i++) sum += (await shop.price(i)).price; return sum`,
  grants: ['shop.price'],
  ...more,
})

describe('a right', () => {
  it('is counted over all items of an each, whichever of them takes it', async () => {
    const grants = [{ capability: 'shop.price', calls: 4 }]
    const nodes = {
      all: { kind: 'each', over: [1, 2, 3], most: 3, do: { nodes: { ask: asks(2, { grants }) } } },
    }
    const [, outcome] = await started(planOf(nodes as Record<string, PlanNode>))
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'budget_exhausted' } })
    expect(made).toHaveLength(4)
  })

  it('of a plan in a plan bounds its calls and its programs together', async () => {
    const inner = planOf(
      { a: { kind: 'call', capability: 'shop.price', input: 1 }, b: asks(5, { after: ['a'] }) },
      { grants: [{ capability: 'shop.price', budgets: { cents: 7 } }] },
    )
    const [, outcome] = await started(planOf({ part: { kind: 'plan', plan: inner } }))
    expect(outcome.status).toBe('failed')
    expect(made).toHaveLength(3)
  })

  it('that a plan in a plan narrows is narrowed for its calls too', async () => {
    const grants = [{ capability: 'shop.price', only: { '/sku': ['a'] } }]
    const inner = planOf({ a: { kind: 'call', capability: 'shop.price', input: { sku: 'b' } } }, { grants })
    const [, outcome] = await started(planOf({ part: { kind: 'plan', plan: inner } }))
    expect(outcome).toMatchObject({ status: 'failed', error: { class: 'denied' } })
    expect(made).toEqual([])
  })
})

describe('a budget', () => {
  it('of calls that is used up inside of a program lets it stand still, and go on with more where it was', async () => {
    const store = createMemoryRunStore()
    const [, outcome] = await started(
      planOf({ ask: asks(5) }, { budget: { calls: 3 }, output: { $from: 'ask' } }),
      store,
    )
    expect(outcome).toMatchObject({
      status: 'frozen',
      reason: 'budget',
      message: 'None of the calls of the budget are left for "ask".',
    })
    expect(made).toEqual([0, 1, 2])
    expect(await goOn(store)).toMatchObject({ status: 'frozen', used: { calls: 3 } })
    const end = await goOn(store, { calls: 2 })
    expect(end).toMatchObject({ status: 'completed', output: 35, used: { calls: 5 } })
    expect(made).toEqual([0, 1, 2, 3, 4])
  })

  it('of fuel does the same, and counts what was used once', async () => {
    const store = createMemoryRunStore()
    const source =
      'const { price } = await shop.price(0); let n = 0; for (let i = 0; i < 300000; i++) n += i; return price'
    const plan = planOf(
      { work: asks(1, { source }) },
      { budget: { fuel: 4_000_000 }, output: { $from: 'work' } },
    )
    const [, outcome] = await started(plan, store)
    expect(outcome).toMatchObject({
      status: 'frozen',
      reason: 'budget',
      message: 'None of the fuel of the budget is left for "work".',
    })
    const spent = outcome.used.fuel ?? 0
    expect(spent).toBeGreaterThan(3_000_000)
    // A turn ends at the end of a block of instructions.
    expect(spent).toBeLessThan(4_001_000)
    const end = await goOn(store, { fuel: 2_000_000_000 })
    expect(end).toMatchObject({ status: 'completed', output: 7, used: { calls: 1 } })
    const [, whole] = await started({ ...plan, budget: {} })
    // Where a turn is taken again after a checkpoint nothing is counted twice.
    expect(end.used.fuel ?? 0).toBeGreaterThanOrEqual(whole.used.fuel ?? 0)
    expect(end.used.fuel ?? 0).toBeLessThan((whole.used.fuel ?? 0) * 1.5)
    expect(made).toHaveLength(2)
  })

  it('of money is shared by calls at once, and of fuel by programs at once, which wait for each other', async () => {
    const nodes = { a: asks(2), b: asks(2), c: { kind: 'call', capability: 'shop.price', input: 9 } as const }
    const [, outcome] = await started(
      planOf(nodes, { budget: { fuel: 2_000_000_000, units: { cents: 10 } } }),
    )
    expect(outcome).toMatchObject({ status: 'completed', used: { units: { cents: 10 } } })
    const [, short] = await started(planOf(nodes, { budget: { units: { cents: 9 } } }))
    expect(short).toMatchObject({
      status: 'frozen',
      reason: 'budget',
      message: expect.stringContaining('None of the cents'),
    })
    expect(made).toHaveLength(5 + 4)
  })

  it('that is used up exactly ends nothing', async () => {
    const pure: PlanNode = { kind: 'program', source: 'return 1', after: ['a'] }
    const [, outcome] = await started(
      planOf({ a: asks(2), b: pure }, { budget: { calls: 2, units: { cents: 4 } } }),
    )
    expect(outcome.status).toBe('completed')
  })
})

describe('a run that was killed at any write', () => {
  it('has called no more often than it may when it ends, and counts every call once', async () => {
    const plan = planOf(
      { a: asks(3), b: asks(3), last: asks(4, { after: ['a', 'b'] }) },
      { grants: [{ capability: 'shop.price', calls: 8 }] },
    )
    for (let writes = 3; writes < 60; writes += 4) {
      made = []
      const store = createMemoryRunStore()
      let outcome: PlanOutcome | undefined
      try {
        outcome = (await started(plan, dying(store, writes)))[1]
      } catch {
        // The process died.
      }
      const run = await (await process(store)).planRun('r').catch(() => undefined)
      if (run === undefined) continue
      if ((await run.view()).status === 'proposed') continue
      if (outcome?.status !== 'failed' && (await run.view()).status !== 'failed') {
        if ((await run.view()).status === 'approved') await run.start({ by: 'bob' })
        else await run.resume({ by: 'bob', unseen: true })
        outcome = await run.outcome()
      }
      expect(outcome).toMatchObject({ status: 'failed', error: { code: 'budget_exhausted' } })
      // Calls of a read may be made again by who takes it up: that is one call, by one key.
      expect((await run.view()).used.calls).toBe(8)
    }
  })
})

describe('a run that repeats itself', () => {
  const again: PlanNode = {
    kind: 'loop',
    state: 0,
    most: 220,
    until: false,
    do: { nodes: { ask: { kind: 'call', capability: 'shop.price', input: 1 } }, output: 0 },
  }

  it('stands still before 220 identical calls, with what was repeated, and goes on when somebody says so', async () => {
    const store = createMemoryRunStore()
    const [run, outcome] = await started(planOf({ again }, { guard: { identicalCalls: 10 } }), store)
    expect(outcome).toMatchObject({
      status: 'frozen',
      reason: 'loop_guard',
      message:
        'The same call of "shop.price" was made 10 times, and nothing new came of it. It stands still before "again/10/ask".',
    })
    expect(made).toHaveLength(10)
    // Another process begins with what was: nothing is reset by going on after a crash.
    expect(reportOf(run.plan, await eventsOf(run)).findings).toMatchObject([{ kind: 'loop' }])
    expect(await goOn(store)).toMatchObject({ status: 'frozen', reason: 'loop_guard' })
    expect(made).toHaveLength(20)
    const [, usual] = await started(planOf({ again }))
    expect(usual).toMatchObject({ status: 'frozen', reason: 'loop_guard' })
    expect(made.length - 20).toBeLessThan(220)
  })

  it('fails in a program with a code of its own, which is not tried again', async () => {
    const source = 'for (let i = 0; i < 220; i++) await shop.price(1)'
    const retry = { attempts: 3, on: ['unknown', 'transient'] }
    const plan = planOf({ ask: asks(0, { source, retry }) }, { guard: { identicalCalls: 12 } })
    const [, outcome] = await started(plan)
    expect(outcome).toMatchObject({ status: 'failed', error: { class: 'fatal', code: 'loop_detected' } })
    expect(made).toHaveLength(12)
  })
})

describe('a failure', () => {
  const flaky = (status: number): PlanNode => ({
    kind: 'call',
    capability: 'shop.flaky',
    input: { status },
    retry: { attempts: 3, on: ['transient', 'rate-limited'], delayMs: 1 },
  })

  it('that is a 429 is tried again, after what the service asks for; a TypeError is not', async () => {
    const [run, outcome] = await started(planOf({ ask: flaky(429) }))
    expect(outcome.status).toBe('completed')
    const [retried] = (await eventsOf(run)).filter(({ type }) => type === 'node_retrying')
    expect(retried).toMatchObject({
      error: { class: 'rate-limited', retryAfterMs: 5 },
      jitter: expect.any(Number),
    })
    const { atMs = 0, timeMs = 0 } = retried as { atMs?: number; timeMs?: number }
    expect(atMs - timeMs).toBeGreaterThanOrEqual(4.9)
    asked = 0
    const [, wrong] = await started(planOf({ ask: flaky(0) }))
    expect(wrong).toMatchObject({ status: 'failed', error: { class: 'unknown' } })
    expect(asked).toBe(1)
  })
})

/** A store that takes so many writes more. */
function dying(store: RunStore, writes: number): RunStore {
  let left = writes
  const spend = (): void => {
    left -= 1
    if (left < 0) throw new CaissonError('store_failed', 'The process died.')
  }
  return {
    putBlob: (id, bytes) => store.putBlob(id, bytes),
    getBlob: (id) => store.getBlob(id),
    head: (run) => store.head(run),
    setHead: async (...given) => {
      spend()
      await store.setHead(...given)
    },
    append: async (...given) => {
      spend()
      await store.append(...given)
    },
    entries: (run, from, most) => store.entries(run, from, most),
    lease: (run, ttlMs) => store.lease(run, ttlMs),
    runs: () => store.runs(),
    remove: (run, lease) => store.remove(run, lease),
    collect: (options) => store.collect(options),
    close: () => store.close(),
  }
}
