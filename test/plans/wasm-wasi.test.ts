/** Nodes that are components and find something of WASI: what they are given, what they give, and that it is done again. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { readSample } from '../../scripts/samples/read-sample.ts'
import { sha256 } from '../../src/base/digest.ts'
import {
  type Capability,
  definePlan,
  openRuntime,
  type Plan,
  type PlanNode,
  planSvg,
  type Runtime,
} from '../../src/entry/node.ts'
import type { ComponentNode, Template } from '../../src/graph/plan/plan.ts'
import type { RunStore } from '../../src/ports/run-store.ts'
import type { PlanRun } from '../../src/runtime/plans/plan-run.ts'
import { failingCommand, writesAroundACall } from './wasm-wasi.testkit.ts'

let probe: Uint8Array
let command: Uint8Array
let writer: Uint8Array
let runtime: Runtime

beforeAll(async () => {
  probe = await readSample('wasi-probe-c')
  command = await failingCommand()
  writer = await writesAroundACall()
  runtime = await openRuntime({ receipts: { states: true } })
})
afterAll(() => runtime.close())

// A runtime makes a component that waits suspendable first.
vi.setConfig({ testTimeout: 180_000 })

function planOf(nodes: Readonly<Record<string, PlanNode>>, output: Template, more: Partial<Plan> = {}): Plan {
  return { format: 'plan/1', name: 'wasm-wasi', version: '1', ...more, nodes, output }
}

async function begin(here: Runtime, plan: Plan, input: unknown = null, name?: string): Promise<PlanRun> {
  const text = JSON.stringify(plan)
  const wasm = [probe, command, writer].filter((bytes) => text.includes(sha256(bytes)))
  const run = await here.propose(plan, { by: 'test', input, wasm, ...(name !== undefined && { run: name }) })
  await run.approve({ by: 'test', digest: (await run.view()).request })
  await run.start({ by: 'test' })
  return run
}

/** @param action of the world `wasi-probe` */
function probing(
  action: Template,
  wasi?: ComponentNode['wasi'],
  more: Partial<ComponentNode> = {},
): PlanNode {
  return {
    kind: 'component',
    wasm: sha256(probe),
    export: 'run',
    args: [action],
    ...(wasi && { wasi }),
    ...more,
  }
}

describe('a component that is told of WASI', () => {
  test('finds variables, standard input and files of references, and gives what it wrote', async () => {
    const plan = planOf(
      {
        env: probing('env WHO', { env: { WHO: { $from: 'input/who' } } }),
        typed: probing('stdin', { stdin: { $from: 'env/value' } }),
        read: probing('read /in/data.json', {
          directory: '/in',
          files: { 'data.json': { from: { $from: 'typed/value' } } },
        }),
        wrote: probing('write /note.txt', { writes: { 'note.txt': 'text' } }),
        printed: probing('print {"a":1}', { stdout: 'json' }),
        complained: probing('complain oh', {}),
      },
      {
        read: { $from: 'read/value' },
        note: { $from: 'wrote/files/note.txt' },
        printed: { $from: 'printed/stdout/a' },
        complained: { $from: 'complained' },
      },
    )
    const run = await begin(runtime, plan, { who: 'Ann' })
    expect(await run.outcome()).toMatchObject({
      status: 'completed',
      output: {
        read: '{"from":"Ann"}',
        note: 'written by a guest\n',
        printed: 1,
        complained: { exitCode: 0, value: 'printed', stdout: '', stderr: 'oh\n', files: {} },
      },
    })
    expect(await runtime.verify(run.run)).toMatchObject({ ok: true, executed: 6, unchecked: [] })
  })

  test('finds nothing that is not said: no file, no directory to write to, no variable', async () => {
    const failed = async (action: string, wasi?: ComponentNode['wasi']): Promise<unknown> =>
      (await begin(runtime, planOf({ one: probing(action, wasi) }, null))).outcome()
    for (const wasi of [undefined, {}, { env: { OTHER: 'x' } }, { stdin: 'x' }]) {
      expect(await failed('write /note.txt', wasi)).toMatchObject({ status: 'failed' })
      expect(await failed('read /etc/passwd', wasi)).toMatchObject({ status: 'failed' })
      expect(await failed('env WHO', wasi)).toMatchObject({
        status: 'failed',
        error: { message: expect.stringContaining('not set') },
      })
    }
    const beside = { directory: '/in', files: { 'a.txt': 'a' } }
    expect(await failed('read /a.txt', beside)).toMatchObject({ status: 'failed' })
    expect(await failed('write /other/a.txt', beside)).toMatchObject({ status: 'failed' })
  })

  test('that exits fails with what it said, unless its code is a part of the output', async () => {
    const exits = (exit?: 'any'): Plan =>
      planOf({ one: probing('exit 3', { ...(exit && { exit }) }) }, { $from: 'one' })
    const failing = await begin(runtime, exits())
    expect(await failing.outcome()).toMatchObject({
      status: 'failed',
      error: { code: 'capability_failed', message: expect.stringContaining('The component exited with 1') },
    })
    const telling = await begin(runtime, exits('any'))
    expect(await telling.outcome()).toMatchObject({
      status: 'completed',
      output: { exitCode: 1, value: null, stdout: '' },
    })
    expect(await runtime.verify(telling.run)).toMatchObject({ ok: true, executed: 1 })
  })

  test('that is a command says by err alone that it did not go well', async () => {
    const node = (exit: 'zero' | 'any'): PlanNode => ({
      kind: 'component',
      wasm: sha256(command),
      export: 'wasi:cli/run@0.2.0#run',
      wasi: { exit },
    })
    expect(await (await begin(runtime, planOf({ one: node('zero') }, null))).outcome()).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('exited with 1') },
    })
    const any = await begin(runtime, planOf({ one: node('any') }, { $from: 'one/exitCode' }))
    expect(await any.outcome()).toMatchObject({ status: 'completed', output: 1 })
  })

  test('whose output is not what was declared fails, and so does one that wrote too much', async () => {
    const failed = async (node: PlanNode): Promise<unknown> =>
      (await begin(runtime, planOf({ one: node }, null))).outcome()
    expect(await failed(probing('print no', { stdout: 'json' }))).toMatchObject({
      error: { code: 'invalid_result', message: expect.stringContaining('standard output is no json') },
    })
    expect(await failed(probing('print no', { writes: { 'a.txt': 'text' } }))).toMatchObject({
      error: { code: 'invalid_result', message: expect.stringContaining('has not written a.txt') },
    })
    const few = { limits: { bytesOut: 10 } }
    expect(await failed(probing('print some words', {}, few))).toMatchObject({ status: 'failed' })
    expect(await failed(probing('write /a', { writes: { a: 'text' } }, few))).toMatchObject({
      status: 'failed',
    })
    const large = { files: { 'a.txt': 'x'.repeat(2_000) } }
    expect(await failed(probing('time', large, { limits: { bytesIn: 1_000 } }))).toMatchObject({
      status: 'failed',
      error: { class: 'invalid' },
    })
  })

  test('and what it finds is a part of what is approved, shown, and of its receipt', async () => {
    const plans = [
      undefined,
      {},
      { env: { A: 'b' } },
      { files: { 'a.txt': 'b' } },
      { exit: 'any' as const },
    ].map((wasi) => planOf({ one: probing('time', wasi) }, null))
    expect(new Set(plans.map((plan) => definePlan(plan).digest)).size).toBe(plans.length)
    const withFile = plans[3] as Plan
    expect(planSvg(withFile)).toContain('one')
    const programs = new Set<unknown>()
    const outputs = [
      undefined,
      {},
      { files: {} },
      { files: {}, directory: '/in' },
      { stdout: 'bytes' as const },
    ]
    for (const wasi of outputs) {
      const run = await begin(runtime, planOf({ one: probing('time', wasi) }, null))
      expect(await run.outcome()).toMatchObject({ status: 'completed' })
      const [signed] = await runtime.receipts(run.run)
      programs.add(signed?.receipt.program)
    }
    expect(programs.size).toBe(outputs.length)
  })

  test.each([
    [{ files: { '/a.txt': 'a' } }, /is no path of a file in the directory/],
    [{ files: { '../a.txt': 'a' } }, /is no path of a file in the directory/],
    [{ files: { $from: 'input' } }, /is no path of a file in the directory/],
    [{ directory: 'in' }, /is not an absolute path/],
    [{ env: { 'A=B': 'c' } }, /is no name of a variable/],
    [{ directories: {} }, /is not known here/],
    [{ stdin: { $from: 'nowhere' } }, /there is no node "nowhere"/],
    [{ exit: 'some' }, /must be "zero" or "any"/],
  ])('is refused where a plan says %o of it', (wasi, problem) => {
    const plan = planOf({ one: probing('time', wasi as ComponentNode['wasi']) }, null)
    expect(() => definePlan(plan)).toThrow(problem)
  })
})

describe('a component that may call something', () => {
  const PLAN = (): Plan =>
    planOf(
      {
        one: {
          kind: 'component',
          wasm: sha256(writer),
          export: 'run',
          args: [{ $from: 'input' }],
          wasi: { writes: { 'kept.txt': 'text' }, files: { 'beside.txt': 'b' } },
          grants: [{ capability: 'hostCall', approve: true }],
        },
      },
      { $from: 'one' },
      { grants: [{ capability: 'hostCall', approve: true }] },
    )
  const open = (store: RunStore, asked: unknown[]): Promise<Runtime> => {
    const capability: Capability = {
      name: 'hostCall',
      description: 'Says what it is told.',
      effect: 'read',
      invoke: async (input: unknown) => {
        asked.push(input)
        return `and ${(input as { arguments: string }).arguments}`
      },
    }
    return openRuntime({ store, receipts: { states: true }, capabilities: [capability] })
  }

  test('is parked with a file of its directory open, and goes on with it in another process', async () => {
    const store = createMemoryRunStore()
    const asked: unknown[] = []
    const first = await open(store, asked)
    expect(await (await begin(first, PLAN(), 'after', 'r')).outcome()).toMatchObject({ status: 'waiting' })
    expect(asked).toEqual([])
    await first.close()
    const second = await open(store, asked)
    const run = await second.planRun('r')
    const [request] = await run.requests()
    await run.decide({ request: request?.digest as never, by: 'ann', decision: 'approve' })
    await run.resume({ by: 'test' })
    expect(await run.outcome()).toMatchObject({
      status: 'completed',
      output: { exitCode: 0, value: 'and after', files: { 'kept.txt': 'before and after' } },
    })
    expect(asked).toHaveLength(1)
    expect(await second.verify('r')).toMatchObject({ ok: true, executed: 1, unchecked: [] })
    await second.close()
  })
})
