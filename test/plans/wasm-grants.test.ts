/** Nodes that are WebAssembly and may call something: through the gate, on record, parked, gone on with, and verified. */
import { afterAll, describe, expect, test, vi } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { readSample } from '../../scripts/samples/read-sample.ts'
import { sha256 } from '../../src/base/digest.ts'
import { type Capability, openRuntime, type Plan, type PlanNode, type Runtime } from '../../src/entry/node.ts'
import type { PlanRun } from '../../src/runtime/plans/plan-run.ts'

const COMPONENT = await readSample('tool-c')
const MODULE = await readSample('asking-c')
const opened: Runtime[] = []
afterAll(() => Promise.all(opened.map((runtime) => runtime.close())))

/** What was asked, and answered, by whichever process. */
class World {
  readonly asked: string[] = []
  readonly store = createMemoryRunStore()
  async process(): Promise<Runtime> {
    const capability = (name: string, answer: (input: never) => unknown): Capability =>
      ({
        name,
        description: 'Answers what it is asked.',
        effect: 'read',
        idempotent: true,
        cost: () => ({ cents: 5 }),
        invoke: async (input: unknown) => {
          this.asked.push(JSON.stringify(input))
          return answer(input as never)
        },
      }) as Capability
    const runtime = await openRuntime({
      store: this.store,
      receipts: { states: true },
      capabilities: [
        capability('hostCall', ({ arguments: said }: { arguments: string }) => `said ${said}`),
        capability('prices.lookup', ({ sku }: { sku: string }) => Number(sku.slice(1)) + 10),
      ],
    })
    opened.push(runtime)
    return runtime
  }
}

const KINDS = {
  component: (grant: object = {}): PlanNode => ({
    kind: 'component',
    wasm: sha256(COMPONENT),
    export: 'run',
    args: [{ $from: 'input' }],
    grants: [{ capability: 'hostCall', ...grant }],
  }),
  module: (grant: object = {}): PlanNode => ({
    kind: 'module',
    wasm: sha256(MODULE),
    args: ['3'],
    grants: [{ capability: 'prices.lookup', ...grant }],
  }),
} as const
type Kind = keyof typeof KINDS

const CAPABILITY = { component: 'hostCall', module: 'prices.lookup' } as const
const OUTPUT = {
  component: 'said {"line":"a"}\nsaid {"line":"b"}\nsaid {"line":"c"}',
  module: { exitCode: 0, stdout: 'p0 costs 10\np1 costs 11\np2 costs 12\ntogether 33\n' },
} as const

function planOf(node: PlanNode, grant: object, more: Partial<Plan> = {}): Plan {
  const own = 'grants' in node ? (node.grants?.[0] as object) : {}
  const grants = [{ ...own, ...grant }] as unknown as Plan['grants']
  return {
    format: 'plan/1',
    name: 'wasm-grants',
    version: '1',
    ...(grants && { grants }),
    nodes: { one: node },
    output: { $from: 'one' },
    ...more,
  }
}

async function begin(runtime: Runtime, plan: Plan): Promise<PlanRun> {
  const wasm = [COMPONENT, MODULE].filter((one) => JSON.stringify(plan).includes(sha256(one)))
  const run = await runtime.propose(plan, { by: 'test', run: 'r', input: 'a\nb\nc', wasm })
  await run.approve({ by: 'test', digest: (await run.view()).request })
  await run.start({ by: 'test' })
  return run
}

// Each runtime makes its guests suspendable anew.
vi.setConfig({ testTimeout: 180_000 })

describe.each(['component', 'module'] as const)('a %s', (kind: Kind) => {
  test('calls what it is granted; receipt and verification know of it, and nobody is asked again', async () => {
    const world = new World()
    const runtime = await world.process()
    const run = await begin(runtime, planOf(KINDS[kind](), {}))
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: OUTPUT[kind] })
    expect((await run.view()).used).toMatchObject({ calls: 3, units: { cents: 15 } })
    const [signed] = await runtime.receipts('r')
    expect(signed?.receipt).toMatchObject({
      kind,
      engine: expect.stringMatching(new RegExp(`^${kind}:[0-9a-f]{64}$`)),
      state: expect.stringMatching(/^sha256:/),
      log: { entries: expect.any(Number) },
    })
    expect(signed?.receipt.calls.map(({ capability }) => capability)).toEqual(
      Array.from({ length: 3 }, () => CAPABILITY[kind]),
    )
    const asked = [...world.asked]
    expect(await runtime.verify('r')).toMatchObject({ ok: true, executed: 1, unchecked: [] })
    expect(world.asked).toEqual(asked)
  })

  test('is not proposed without what it calls', async () => {
    const world = new World()
    const runtime = await world.process()
    const { grants: _, ...node } = KINDS[kind]() as PlanNode & { grants: unknown }
    await expect(
      begin(runtime, planOf(node as PlanNode, { capability: CAPABILITY[kind] })),
    ).rejects.toMatchObject({
      code: 'invalid_plan',
      details: { problems: [{ at: '/nodes/one/grants', code: 'missing_imports' }] },
    })
  })

  test('has no more calls than its right, over every process', async () => {
    const world = new World()
    const run = await begin(await world.process(), planOf(KINDS[kind]({ calls: 2 }), { calls: 2 }))
    expect(await run.outcome()).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('budget_exhausted') },
    })
    expect(world.asked).toHaveLength(2)
  })

  test('stands still where a budget around it is used up, and goes on there with more', async () => {
    const world = new World()
    const runtime = await world.process()
    const run = await begin(runtime, planOf(KINDS[kind](), {}, { budget: { calls: 2 } }))
    expect(await run.outcome()).toMatchObject({ status: 'frozen', reason: 'budget' })
    expect(world.asked).toHaveLength(2)
    const { point } = await run.view()
    await run.resume({ by: 'test', point, more: { calls: 5 } })
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: OUTPUT[kind] })
    expect(world.asked).toHaveLength(3)
    expect(await runtime.verify('r')).toMatchObject({ ok: true, executed: 1, unchecked: [] })
  })

  test('waits for people who decide over its calls, and goes on in another process', async () => {
    const world = new World()
    const first = await world.process()
    const run = await begin(first, planOf(KINDS[kind]({ approve: true }), { approve: true }))
    expect(await run.outcome()).toMatchObject({ status: 'waiting' })
    expect(world.asked).toEqual([])
    await first.close()
    const second = await world.process()
    const taken = await second.planRun('r')
    for (let decided = 1; decided <= 3; decided += 1) {
      const [open] = (await taken.requests()).filter((one) => one.decided === undefined)
      expect(open?.action).toBe(CAPABILITY[kind])
      await taken.decide({ request: open?.digest as never, by: 'ann', decision: 'approve' })
      if (decided === 1) await taken.resume({ by: 'test' })
      const outcome = await taken.outcome()
      expect(world.asked).toHaveLength(decided)
      expect(outcome.status).toBe(decided === 3 ? 'completed' : 'waiting')
    }
    expect(await taken.outcome()).toMatchObject({ output: OUTPUT[kind] })
    expect(await second.verify('r')).toMatchObject({ ok: true, executed: 1, unchecked: [] })
  })

  test('whose record says that it was called with something else is found', async () => {
    const world = new World()
    const runtime = await world.process()
    await (await begin(runtime, planOf(KINDS[kind](), {}))).outcome()
    const other = new World()
    const there = await other.process()
    const run = await begin(there, planOf({ ...KINDS[kind](), ...OTHER[kind] } as PlanNode, {}))
    await run.outcome()
    // The log of the other one, which is consistent in itself, in the place of its own.
    const names = await world.store.runs()
    const mine = names.find((name) => /\.[0-9a-f]{24}$/.test(name)) ?? ''
    const theirs = (await other.store.runs()).find((name) => /\.[0-9a-f]{24}$/.test(name)) ?? ''
    const lease = await world.store.lease(mine, 10_000)
    await world.store.remove(mine, lease)
    const again = await world.store.lease(mine, 10_000)
    await world.store.append(mine, 0, await other.store.entries(theirs, 0, 1_000), again)
    await again.release()
    expect(await runtime.verify('r')).toMatchObject({ ok: false, difference: { of: 'log' } })
  })
})

const OTHER = { component: { args: ['x'] }, module: { args: ['2'] } } as const
