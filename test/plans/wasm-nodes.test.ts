/** Nodes that are WebAssembly: what they are given, what they give, how they fail, and that it is all done again. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { readSample } from '../../scripts/samples/read-sample.ts'
import { sha256 } from '../../src/base/digest.ts'
import { openRuntime } from '../../src/entry/node.ts'
import type { Plan, PlanNode, Template } from '../../src/graph/plan/plan.ts'
import type { PlanRun } from '../../src/runtime/plans/plan-run.ts'
import type { Runtime } from '../../src/runtime/runtime.ts'

let runtime: Runtime
let command: Uint8Array
let types: Uint8Array

beforeAll(async () => {
  runtime = await openRuntime({ receipts: { states: true } })
  command = await readSample('command-c')
  types = await readSample('types-c')
})
afterAll(() => runtime.close())

function planOf(nodes: Readonly<Record<string, PlanNode>>, output: Template): Plan {
  return { format: 'plan/1', name: 'wasm-nodes', version: '1', nodes, output }
}

async function runOf(plan: Plan, input: unknown = null): Promise<PlanRun> {
  const run = await runtime.propose(plan, { by: 'test', input, wasm: wasmFor(plan) })
  const { request } = await run.view()
  await run.approve({ by: 'test', digest: request })
  await run.start({ by: 'test' })
  return run
}

function wasmFor(plan: Plan): Uint8Array[] {
  const text = JSON.stringify(plan)
  return [command, types].filter((bytes) => text.includes(sha256(bytes)))
}

function moduleNode(node: Omit<Extract<PlanNode, { kind: 'module' }>, 'kind'>): PlanNode {
  return { kind: 'module', wasm: sha256(command), ...node }
}

describe('a module', () => {
  test('gets arguments, standard input and files from references, and gives what it wrote', async () => {
    const plan = planOf(
      {
        loud: moduleNode({ args: ['upper'], stdin: { $from: 'input/text' } }),
        copied: moduleNode({
          args: ['copy', '/in.json', '/out.json'],
          files: { 'in.json': { from: { $from: 'loud/stdout' } } },
          writes: { 'out.json': 'json' },
        }),
      },
      { loud: { $from: 'loud/stdout' }, file: { $from: 'copied/files/out.json' } },
    )
    const run = await runOf(plan, { text: 'hello' })
    const outcome = await run.outcome()
    expect(outcome).toMatchObject({ status: 'completed', output: { loud: 'HELLO', file: { from: 'HELLO' } } })
    const verified = await runtime.verify(run.run)
    expect(verified).toMatchObject({ ok: true, executed: 2, unchecked: [] })
  })

  test('that exits with a code fails with what it said, unless its code is part of the output', async () => {
    const failing = await runOf(planOf({ one: moduleNode({ args: ['copy', '/none', '/to'] }) }, null))
    expect(await failing.outcome()).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('exited with 1: /none') },
    })
    const telling = await runOf(
      planOf({ one: moduleNode({ args: ['exit', '7'], exit: 'any' }) }, { $from: 'one/exitCode' }),
    )
    expect(await telling.outcome()).toMatchObject({ status: 'completed', output: 7 })
    expect(await runtime.verify(telling.run)).toMatchObject({ ok: true, executed: 1 })
  })

  test('that never ends is stopped by its fuel, and a fallback stands in', async () => {
    const plan = planOf(
      {
        one: moduleNode({ args: ['loop'], limits: { fuel: 5_000_000 }, fallback: [{ value: 'instead' }] }),
        two: moduleNode({ args: ['upper'], stdin: { $from: 'one' } }),
      },
      { $from: 'two/stdout' },
    )
    const run = await runOf(plan)
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'INSTEAD' })
    expect(await runtime.verify(run.run)).toMatchObject({ ok: true, executed: 2, unchecked: [] })
  })

  test('has no more than the budget around it, and the run stands still when that is used up', async () => {
    const plan = { ...planOf({ one: moduleNode({ args: ['loop'] }) }, null), budget: { fuel: 2_000_000 } }
    const run = await runOf(plan)
    expect(await run.outcome()).toMatchObject({ status: 'frozen' })
    const { used } = await run.view()
    expect(used.fuel).toBeGreaterThan(1_000_000)
    expect(used.fuel).toBeLessThan(4_000_000)
  })

  test('whose output is not of the form that was declared fails', async () => {
    const run = await runOf(planOf({ one: moduleNode({ args: ['args'], stdout: 'json' }) }, null))
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'invalid_result' } })
    const none = await runOf(
      planOf({ one: moduleNode({ args: ['args'], writes: { 'a.txt': 'text' } }) }, null),
    )
    expect(await none.outcome()).toMatchObject({ status: 'failed', error: { code: 'invalid_result' } })
  })

  test('has receipts that name what it was, and what executed it', async () => {
    const run = await runOf(planOf({ one: moduleNode({ args: ['args'] }) }, null))
    expect(await run.outcome()).toMatchObject({ status: 'completed' })
    const [signed] = await runtime.receipts(run.run)
    expect(signed?.receipt).toMatchObject({
      kind: 'module',
      program: expect.stringMatching(/^sha256:/),
      engine: expect.stringMatching(/^module:/),
      state: expect.stringMatching(/^sha256:/),
    })
  })
})

describe('a component', () => {
  const call = (name: string, args: readonly Template[]): PlanNode => ({
    kind: 'component',
    wasm: sha256(types),
    export: name,
    args,
  })

  test('is called with values of references, and what it returns goes on', async () => {
    const plan = planOf(
      {
        joined: call('concat', [{ $from: 'input' }, '!']),
        sizes: call('lengths', [[{ $from: 'joined' }, 'ab']]),
        sum: call('add-u64', [{ $from: 'sizes/0' }, 40]),
        number: call('parse', ['17']),
      },
      {
        joined: { $from: 'joined' },
        sizes: { $from: 'sizes' },
        sum: { $from: 'sum' },
        number: { $from: 'number' },
      },
    )
    const run = await runOf(plan, 'hi')
    expect(await run.outcome()).toMatchObject({
      status: 'completed',
      output: { joined: 'hi!', sizes: [3, 2], sum: 43, number: 17 },
    })
    expect(await runtime.verify(run.run)).toMatchObject({ ok: true, executed: 4, unchecked: [] })
  })

  test('fails its node with an err, and with arguments of another type', async () => {
    const failed = async (node: PlanNode): Promise<unknown> =>
      (await runOf(planOf({ one: node }, null))).outcome()
    expect(await failed(call('parse', ['x']))).toMatchObject({
      status: 'failed',
      error: { code: 'capability_failed' },
    })
    expect(await failed(call('lengths', ['no list']))).toMatchObject({
      status: 'failed',
      error: { class: 'invalid' },
    })
  })

  test('is no module, and the reverse: neither is proposed', async () => {
    const node = { kind: 'component', wasm: sha256(command), export: 'run' } as const
    await expect(runOf(planOf({ one: node }, null))).rejects.toMatchObject({ code: 'invalid_plan' })
    const other = { kind: 'module', wasm: sha256(types) } as const
    await expect(runOf(planOf({ one: other }, null))).rejects.toMatchObject({ code: 'invalid_plan' })
  })
})

describe('the wasm of a plan', () => {
  test('is given with the proposal, or is in the store already; what nobody named is refused', async () => {
    const other = await openRuntime()
    const plan = planOf({ one: moduleNode({ args: ['args'] }) }, null)
    await expect(other.propose(plan, { by: 'test' })).rejects.toMatchObject({ code: 'not_found' })
    await expect(other.propose(plan, { by: 'test', wasm: [types] })).rejects.toMatchObject({
      code: 'invalid_argument',
    })
    await other.propose(plan, { by: 'test', wasm: [command] })
    expect((await other.propose(plan, { by: 'test' })).plan).toEqual(plan)
    await other.close()
  })

  test('is named by file only until it is embedded', async () => {
    const plan = planOf({ one: { kind: 'module', file: 'a.wasm' } }, null)
    await expect(runtime.propose(plan, { by: 'test' })).rejects.toMatchObject({ code: 'invalid_plan' })
  })

  test('goes along with an exported run, and a node left at work by one process is begun anew by the next', async () => {
    const store = createMemoryRunStore()
    const first = await openRuntime({ store })
    const plan = planOf(
      {
        pause: { kind: 'wait', event: 'go' },
        one: moduleNode({ args: ['upper'], stdin: 'x', after: ['pause'] }),
      },
      { $from: 'one/stdout' },
    )
    const run = await first.propose(plan, { by: 'test', wasm: [command] })
    await run.approve({ by: 'test', digest: (await run.view()).request })
    await run.start({ by: 'test' })
    await run.outcome()
    const file = await first.exportRun(run.run)
    await first.close()
    const second = await openRuntime({ store: createMemoryRunStore() })
    const taken = await second.importRun(file)
    await taken.resume({ by: 'test', point: (await taken.view()).point })
    await taken.send('go', null, { by: 'test' })
    expect(await taken.outcome()).toMatchObject({ status: 'completed', output: 'X' })
    await second.close()
  })
})
