/** Plans over real isolates, the real gate and a real store, in processes that die. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { nodeCheckpointPorts } from '../../host-bindings/system/checkpoint-ports.node.ts'
import { systemClock } from '../../host-bindings/system/system-clock.ts'
import { Ledger } from '../../src/capability/budget.ts'
import { createCapabilityTable } from '../../src/capability/capability-table.ts'
import { createGate } from '../../src/capability/gate.ts'
import { grantSet } from '../../src/capability/grant-set.ts'
import { CaissonError, capability, openRuntime, type Runtime } from '../../src/entry/node.ts'
import { definePlan } from '../../src/graph/plan/define-plan.ts'
import type { Plan } from '../../src/graph/plan/plan.ts'
import type { RunEvent } from '../../src/graph/run/run-event.ts'
import { RunState } from '../../src/graph/run/run-state.ts'
import { RunValues } from '../../src/graph/run/run-values.ts'
import { Runner } from '../../src/graph/run/runner.ts'
import { Journal } from '../../src/journal/journal.ts'
import type { RunStore } from '../../src/ports/run-store.ts'
import { PlanWork } from '../../src/runtime/plans/plan-work.ts'

/** What the tools did to the world, by idempotency key. */
let effects: string[] = []

const lookup = capability({
  name: 'prices.lookup',
  description: 'Price of a product',
  effect: 'read',
  invoke: async (input: unknown) => {
    const { sku } = input as { sku: string }
    if (sku === 'gone') throw new CaissonError('network_failed', 'The service is gone.')
    return { sku, price: sku.length * 10 }
  },
  expose: ['network_failed'],
})
const publish = capability({
  name: 'report.publish',
  description: 'Publishes a report',
  effect: 'write',
  invoke: async (input: unknown, { idempotencyKey }) => {
    effects.push(idempotencyKey)
    return { id: effects.length, input }
  },
})
const capabilities = [lookup, publish]

const PLAN: Plan = {
  format: 'plan/1',
  name: 'prices',
  version: '1',
  grants: ['prices.lookup', { capability: 'report.publish', only: { '/title': [{ prefix: 'Prices' }] } }],
  nodes: {
    list: {
      kind: 'program',
      source: 'const all: string[] = input.skus; return all.map((sku) => ({ sku }))',
      input: { skus: { $from: 'input' } },
    },
    enrich: {
      kind: 'each',
      over: { $from: 'list' },
      most: 10,
      do: {
        nodes: {
          price: {
            kind: 'call',
            capability: 'prices.lookup',
            input: { $from: 'item' },
            fallback: [{ on: ['transient'], value: { sku: { $from: 'item/sku' }, price: null } }],
          },
        },
        output: { $from: 'price' },
      },
    },
    sum: {
      kind: 'program',
      source:
        "let total = 0; for (const { sku } of input) total += (await prices.lookup({ sku: sku === 'gone' ? 'x' : sku })).price; return total",
      input: { $from: 'enrich' },
      grants: [{ capability: 'prices.lookup', calls: 5 }],
    },
    worth: {
      kind: 'choice',
      cases: [{ when: { $eval: 'total > 20', with: { total: { $from: 'sum' } } }, take: ['publish'] }],
    },
    publish: {
      kind: 'call',
      capability: 'report.publish',
      input: {
        title: { $eval: "'Prices: ' + total", with: { total: { $from: 'sum' } } },
        rows: { $from: 'enrich' },
      },
    },
  },
  output: { $from: 'publish' },
}

let runtime: Runtime
beforeAll(async () => {
  runtime = await openRuntime({ capabilities, store: createMemoryRunStore() })
})
afterAll(() => runtime.close())

/** People may not name a run like the program of a plan. */
const ownName = (run: string): string => run.replaceAll('.', '-')

/** One process that goes on with a run until it comes to rest. */
async function goOn(
  store: RunStore,
  document: Plan,
  input: unknown,
): Promise<RunState & { given?: unknown }> {
  const { plan, digest } = definePlan(document)
  const process = await openRuntime({ capabilities, store })
  const lease = await store.lease('r', 60_000)
  const state = new RunState(plan)
  const values = new RunValues(store)
  try {
    const sealing = { ports: nodeCheckpointPorts }
    const journal = await Journal.open({ store, run: 'r', tenant: '', sealing }, lease, (record) =>
      state.apply(record as RunEvent),
    )
    const table = createCapabilityTable(capabilities)
    const ledger = new Ledger()
    const work = new PlanWork({
      plan,
      run: 'r',
      guestId: 'test-r',
      clock: systemClock,
      startedAtMs: () => state.startedAtMs ?? 0,
      hash: nodeCheckpointPorts.hash,
      openGate: (grants, options) =>
        createGate({ grants: grantSet(table, grants), ledger, clock: systemClock, ...options }),
      runProgram: (source, { run, ...options }) =>
        process.run(source, { ...options, ...(run !== undefined && { run: ownName(run) }) }),
      resumeProgram: (run, options) => process.resume(ownName(run), options),
      runWasm: async () => {
        throw new Error('No wasm is in these plans.')
      },
      resumeWasm: async () => {
        throw new Error('No wasm is in these plans.')
      },
      whose: {},
    })
    const runner = new Runner({
      run: 'r',
      state,
      journal,
      values,
      work,
      expression: work.evaluate,
      clock: systemClock,
      sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    })
    if (state.status === undefined) {
      const given = await values.keep(input)
      await runner.record(
        { type: 'proposed', format: 'run/1', id: 'r', tools: {}, plan: digest, input: given, by: 'ann' },
        { type: 'approved', request: digest, by: 'bob' },
        { type: 'started', by: 'bob', atMs: systemClock.now() },
      )
    }
    await runner.drive()
    const { output } = state
    return Object.assign(state, output && { given: await values.load(output) })
  } finally {
    await lease.release()
    await process.close()
  }
}

describe('a plan over real guests', () => {
  it('runs its programs and calls, and gives what comes out', async () => {
    effects = []
    const { status, given, node } = await goOn(createMemoryRunStore(), PLAN, ['a', 'bcd', 'gone']).then(
      (state) => ({
        status: state.status,
        given: state.given,
        node: state.node('enrich/2/price'),
      }),
    )
    expect(status).toBe('completed')
    expect(node?.error?.code).toBe('network_failed')
    expect(given).toMatchObject({
      input: {
        title: 'Prices: 50',
        rows: [
          { sku: 'a', price: 10 },
          { sku: 'bcd', price: 30 },
          { sku: 'gone', price: null },
        ],
      },
    })
    expect(effects).toHaveLength(1)
  })

  it('is refused by the gate what its grants do not allow', async () => {
    const plan: Plan = {
      ...PLAN,
      nodes: {
        publish: { kind: 'call', capability: 'report.publish', input: { title: 'Secrets' } },
      },
      output: null,
    }
    effects = []
    const state = await goOn(createMemoryRunStore(), plan, null)
    expect(state.status).toBe('failed')
    expect(state.failure?.error).toMatchObject({ class: 'denied', code: 'denied' })
    expect(effects).toEqual([])
  })

  it('fails a node whose expression goes on for ever', async () => {
    const plan: Plan = {
      ...PLAN,
      nodes: { n: { kind: 'wait', forMs: 1, when: { $eval: '(() => { for (;;); })()' } } },
      output: null,
    }
    const state = await goOn(createMemoryRunStore(), plan, null)
    expect(state.failure?.error).toMatchObject({ class: 'fatal', code: 'budget_exhausted' })
  })

  it('killed after any write, publishes once and ends the same', async () => {
    effects = []
    for (let writes = 0; writes < 40; writes += 1) {
      effects = []
      const store = createMemoryRunStore()
      const budget = { left: writes }
      let state: (RunState & { given?: unknown }) | undefined
      try {
        state = await goOn(dying(store, budget), PLAN, ['a', 'bcd'])
      } catch {
        state = await goOn(store, PLAN, ['a', 'bcd'])
      }
      if (state.status === 'frozen') {
        // It was in the middle of what must not be done twice: somebody has to say.
        expect(state.node('publish')?.status).toBe('frozen')
        expect(effects.length).toBeLessThanOrEqual(1)
      } else {
        expect(state.status).toBe('completed')
        expect(state.given).toMatchObject({ input: { title: 'Prices: 40' } })
        expect(effects).toHaveLength(1)
      }
      if (budget.left > 0) return
    }
    expect.unreachable('The plan never ran to its end.')
  })
})

/** A store that takes so many writes more. */
function dying(store: RunStore, budget: { left: number }): RunStore {
  const spend = (): void => {
    budget.left -= 1
    if (budget.left < 0) throw new CaissonError('store_failed', 'The process died.')
  }
  return {
    putBlob: (id, bytes) => store.putBlob(id, bytes),
    getBlob: (id) => store.getBlob(id),
    head: (run) => store.head(run),
    setHead: async (run, head, lease) => {
      spend()
      await store.setHead(run, head, lease)
    },
    append: async (run, at, entries, lease) => {
      spend()
      await store.append(run, at, entries, lease)
    },
    entries: (run, from, most) => store.entries(run, from, most),
    lease: (run, ttlMs) => store.lease(run, ttlMs),
    runs: () => store.runs(),
    remove: (run, lease) => store.remove(run, lease),
    collect: (options) => store.collect(options),
    close: () => store.close(),
  }
}
