/** What is wrong with the WebAssembly of a plan is told when it is checked or proposed: all of it, and nothing was run. */
import { componentEmbed, componentNew } from '@bytecodealliance/jco-transpile/wasm-tools'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { readSample } from '../../scripts/samples/read-sample.ts'
import { sha256 } from '../../src/base/digest.ts'
import {
  CaissonError,
  type Capability,
  capability,
  definePlan,
  openRuntime,
  type Plan,
  type PlanNode,
  type Runtime,
} from '../../src/entry/node.ts'
import type { PlanProblem } from '../../src/graph/plan/plan-problem.ts'
import { assemble } from '../../src/wasm/assemble.testkit.ts'

const NAMES = ['tool-c', 'types-c', 'command-c', 'asking-c', 'reactor-c', 'http-c'] as const
const samples = new Map<string, Uint8Array>()
const store = createMemoryRunStore()
let runtime: Runtime

const tools: readonly Capability[] = [
  capability({ name: 'hostCall', description: 'A', effect: 'read', invoke: async () => 'x' }),
  capability({ name: 'prices.lookup', description: 'B', effect: 'read', invoke: async () => 1 }),
  capability({ name: 'now.read', description: 'C', effect: 'read', sync: true, invoke: () => 1 }),
  capability({ name: 'net.fetch', description: 'D', effect: 'read', invoke: async () => null }),
]

beforeAll(async () => {
  for (const name of NAMES) samples.set(name, await readSample(name))
  runtime = await openRuntime({ store, capabilities: tools })
})
afterAll(() => runtime.close())

type Own<K extends PlanNode['kind']> = Omit<Extract<PlanNode, { readonly kind: K }>, 'kind' | 'wasm'>

function bytesOf(wasm: string | Uint8Array): Uint8Array {
  return typeof wasm === 'string' ? (samples.get(wasm) as Uint8Array) : wasm
}

const given = new Map<string, Uint8Array>()

function digestOf(wasm: string | Uint8Array): `sha256:${string}` {
  const bytes = bytesOf(wasm)
  const digest = sha256(bytes)
  given.set(digest, bytes)
  return digest
}

const component = (wasm: string | Uint8Array, node: Own<'component'>): PlanNode => ({
  kind: 'component',
  wasm: digestOf(wasm),
  ...node,
})
const module = (wasm: string | Uint8Array, node: Own<'module'> = {}): PlanNode => ({
  kind: 'module',
  wasm: digestOf(wasm),
  ...node,
})

function planOf(nodes: Plan['nodes'], grants: Plan['grants'] = []): Plan {
  return { format: 'plan/1', name: 'checked', version: '1', grants, nodes }
}

function wasmOf(plan: Plan): Uint8Array[] {
  const text = JSON.stringify(plan)
  return [...given].flatMap(([digest, bytes]) => (text.includes(digest) ? [bytes] : []))
}

/** What is wrong with a plan; nothing where it is right. */
async function problemsOf(plan: Plan): Promise<readonly PlanProblem[]> {
  try {
    await runtime.checkPlan(plan, { wasm: wasmOf(plan) })
    return []
  } catch (error) {
    if (!CaissonError.is(error, 'invalid_plan')) throw error
    return error.details.problems as readonly PlanProblem[]
  }
}

/** Of a plan with one node. */
async function problemOf(node: PlanNode, grants: Plan['grants'] = []): Promise<PlanProblem | undefined> {
  const problems = await problemsOf(planOf({ one: node }, grants))
  expect(problems.length).toBeLessThanOrEqual(1)
  return problems[0]
}

async function componentOf(wit: string): Promise<Uint8Array> {
  return componentNew(await componentEmbed({ witSource: wit, world: 'guest', dummy: true }), [])
}

describe('the WebAssembly of a plan', () => {
  const nodes = (): Plan['nodes'] => ({
    ungranted: component('tool-c', { export: 'run', args: ['x'] }),
    misspelt: component('tool-c', { export: 'rum', args: ['x'], grants: ['hostCall'] }),
    few: component('types-c', { export: 'concat', args: ['x'] }),
    turned: module('types-c'),
    asking: module('asking-c'),
    reactor: module('reactor-c'),
    text: module(new TextEncoder().encode('(module)')),
    each: {
      kind: 'each',
      over: [1],
      most: 1,
      do: { nodes: { other: component('command-c', { export: 'run' }) } },
    },
    loop: {
      kind: 'loop',
      most: 1,
      until: true,
      do: {
        nodes: {
          plan: {
            kind: 'plan',
            plan: planOf({ called: module('command-c', { entry: [{ name: '_strat', args: [] }] }) }),
          },
        },
      },
    },
  })

  test('is wrong in many places at once, which are told together, each with what to do', async () => {
    const problems = await problemsOf(planOf(nodes(), ['hostCall']))
    expect(problems.map(({ at, code }) => [at, code])).toEqual([
      ['/nodes/ungranted/grants', 'missing_imports'],
      ['/nodes/misspelt/export', 'not_found'],
      ['/nodes/few/args', 'invalid_arguments'],
      ['/nodes/turned/kind', 'invalid_module'],
      ['/nodes/asking/grants', 'missing_imports'],
      ['/nodes/reactor/wasm', 'invalid_module'],
      ['/nodes/text/wasm', 'invalid_module'],
      ['/nodes/each/do/nodes/other/kind', 'invalid_component'],
      ['/nodes/loop/do/nodes/plan/plan/nodes/called/entry/0', 'invalid_module'],
    ])
    const texts = problems.map(({ problem }) => problem)
    expect(texts[0]).toMatch(/imports what nobody grants it: host-call\. Grant it the capability "hostCall"/)
    expect(texts[1]).toMatch(/no function "rum"\. Did you mean "run"\? It exports: run, totals$/)
    expect(texts[2]).toMatch(/"concat" takes 2 arguments, not 1: a: string, b: string$/)
    expect(texts[3]).toMatch(/is "module", and its wasm is a component: say "kind: component"/)
    expect(texts[4]).toMatch(/prices\.lookup\. Grant it the capability "prices\.lookup".*"missing: trap"/)
    expect(texts[5]).toMatch(/no function "_start"\. It exports: _initialize, .*\(entry\)$/)
    expect(texts[6]).toMatch(/looks like WebAssembly text/)
    expect(texts[7]).toMatch(/is "component", and its wasm is a core module: say "kind: module"/)
    expect(texts[8]).toMatch(/no function "_strat"\. Did you mean "_start"\?/)
  })

  test('is refused with a proposal, of which nothing is kept then', async () => {
    const plan = planOf(nodes(), ['hostCall'])
    const proposing = runtime.propose(plan, { by: 'test', run: 'refused', wasm: wasmOf(plan) })
    await expect(proposing).rejects.toMatchObject({
      code: 'invalid_plan',
      message: expect.stringMatching(/^The plan is not valid\. nodes\/ungranted\/grants: .* And 8 more:/),
      details: { count: 9 },
    })
    await expect(runtime.planRun('refused')).rejects.toMatchObject({ code: 'not_found' })
    expect(await store.head('refused')).toBeUndefined()
  })

  test('that is right is checked for what it is, and is there or refused by its digest', async () => {
    const plan = planOf({ one: component('types-c', { export: 'concat', args: [{ $from: 'input' }, '!'] }) })
    expect(await runtime.checkPlan(plan, { wasm: wasmOf(plan) })).toEqual(definePlan(plan))
    await expect(runtime.checkPlan(plan)).rejects.toMatchObject({ code: 'not_found' })
    await runtime.propose(plan, { by: 'test', wasm: wasmOf(plan) })
    // Now the store has it.
    expect((await runtime.checkPlan(definePlan(plan))).digest).toBe(definePlan(plan).digest)
    await expect(runtime.checkPlan(plan, { wasm: 'x' } as never)).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { option: 'wasm' },
    })
  })

  test('is told of as running it would tell', async () => {
    const ungranted = await problemOf(component('tool-c', { export: 'run', args: ['x'] }))
    const run = await runtime.runComponent(bytesOf('tool-c'), { args: ['x'] })
    const [what = '', ...ways] = (run.status === 'failed' ? run.error.message : '').split(/(?<= "hostCall")/)
    expect(ungranted?.problem.startsWith(what.replace('The', 'the'))).toBe(true)
    expect(ways.join('')).toBe(' (grants). Or put an object behind them (interfaces).')
    const called = await runtime.runComponent(bytesOf('types-c'), { export: 'concta', args: [] })
    const misspelt = await problemOf(component('types-c', { export: 'concta' }))
    expect(called).toMatchObject({ status: 'failed', error: { code: 'not_found' } })
    expect(`${misspelt?.problem}.`).toBe(
      called.status === 'failed' && called.error.message.replace('The', 'the'),
    )
  })
})

describe('imports', () => {
  test('of WASI are there, or are told where no world has them; a module may run without', async () => {
    const other = assemble(
      '(module (import "wasi_snapshot_preview1" "fd_teleport" (func)) (import "env" "memory" (memory 1)) (func (export "_start")))',
    )
    expect((await problemOf(module(other, { missing: 'trap' })))?.problem).toMatch(
      /nobody grants it: env\.memory\. No capability stands behind env\.memory$/,
    )
    expect((await problemOf(module(other)))?.problem).toMatch(
      /env\.memory, wasi_snapshot_preview1\.fd_teleport\. No capability/,
    )
    const ask = module('asking-c', { missing: 'trap' })
    expect(await problemOf(ask)).toBeUndefined()
    const queue = await componentOf(
      'package a:b; interface i { f: func(); } world guest { import wasi:queue/send; export run: func(); } package wasi:queue { interface send { put: func(); } }',
    )
    expect(await problemOf(component(queue, { export: 'run' }))).toMatchObject({
      at: '/nodes/one/grants',
      problem: expect.stringMatching(
        /wasi:queue\/send#put\. No capability stands behind wasi:queue\/send#put$/,
      ),
    })
  })

  test('name what is to be granted as it is called where the plan has it, and as it would be where not', async () => {
    const shop = await componentOf(
      'package a:b; interface shop-prices { list-all: func() -> string; } world guest { import shop-prices; export run: func(); }',
    )
    const node = component(shop, { export: 'run' })
    expect((await problemOf(node))?.problem).toMatch(/Grant it the capability "shopPrices\.listAll"/)
    expect((await problemOf(node, ['shop.prices.listAll']))?.problem).toMatch(/"shop\.prices\.listAll"/)
    const granted = component(shop, { export: 'run', grants: ['shop.prices.listAll'] })
    expect(await problemOf(granted, ['shop.prices.listAll'])).toBeUndefined()
  })

  test('have to be what a capability is', async () => {
    const wrong = assemble('(module (import "now" "read" (func (param i32))) (func (export "_start")))')
    const node = module(wrong, { grants: ['now.read'] })
    expect(await problemOf(node, ['now.read'])).toMatchObject({
      code: 'invalid_module',
      problem: expect.stringMatching(/"now\.read" with another signature/),
    })
    const held = await componentOf(
      'package a:b; interface now { resource r; read: func() -> r; } world guest { import now; export run: func(); }',
    )
    const problems = await problemsOf(
      planOf({ one: component(held, { export: 'run', grants: ['now.read'] }) }, ['now.read']),
    )
    expect(problems).toMatchObject([
      { code: 'invalid_component', problem: expect.stringMatching(/with resources/) },
    ])
  })
})

describe('what no guest can do', () => {
  test('is told by its feature, by its size, or as what the engine refuses', async () => {
    const start = '(func (export "_start"))'
    const shared = assemble(`(module (memory 1 2 shared) ${start})`)
    expect(await problemOf(module(shared))).toMatchObject({
      at: '/nodes/one/wasm',
      code: 'unsupported_feature',
      problem: expect.stringMatching(/uses threads\. .*build without threads/),
    })
    const relaxed = assemble(
      `(module ${start} (func (param v128 v128) (result v128) (i8x16.relaxed_swizzle (local.get 0) (local.get 1))))`,
    )
    expect(await problemOf(module(relaxed))).toMatchObject({ code: 'unsupported_feature' })
    const large = module(assemble(`(module (memory 100) ${start})`), { limits: { memoryBytes: 2 ** 20 } })
    expect(await problemOf(large)).toMatchObject({
      at: '/nodes/one/limits',
      code: 'invalid_limit',
      problem: expect.stringMatching(
        /needs a memory of 100 pages .* at most 16 are allowed; give it more memory/,
      ),
    })
    // A function that gives a number and has none.
    const untyped = Uint8Array.from([
      ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 5, 1, 0x60, 0, 1, 0x7f, 3, 2, 1, 0],
      ...[7, 10, 1, 6, 0x5f, 0x73, 0x74, 0x61, 0x72, 0x74, 0, 0, 10, 4, 1, 2, 0, 0x0b],
    ])
    expect(await problemOf(module(untyped))).toMatchObject({
      code: 'invalid_module',
      problem: expect.stringMatching(/is not valid, or this engine lacks a feature/),
    })
    const cut = module(bytesOf('command-c').subarray(0, 1_000))
    expect((await problemOf(cut))?.problem).toMatch(
      /file ends inside of .* at least [0-9,]+ bytes are missing/,
    )
  })

  test('is to hold what its host holds', async () => {
    const holds = await componentOf(
      'package a:b; interface i { resource r; make: func() -> r; size: func() -> u32; } world guest { export i; }',
    )
    expect(await problemOf(component(holds, { export: 'a:b/i#make' }))).toMatchObject({
      at: '/nodes/one/export',
      code: 'unsupported_feature',
      problem: '"a:b/i#make" takes or gives resources, which nobody holds here',
    })
    expect((await problemOf(component(holds, { export: 'size' })))?.problem).toMatch(
      /Did you mean "a:b\/i#size"\? It exports: a:b\/i#size$/,
    )
    expect(await problemOf(component(holds, { export: 'a:b/i#size' }))).toBeUndefined()
  })

  test('is more work than a check has, however many nodes name it', async () => {
    const node = module(importing(10_000), { missing: 'trap' })
    const nodes = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`n${i}`, node]))
    const problems = await problemsOf(planOf(nodes))
    expect(problems).toHaveLength(100)
    expect(problems[0]?.problem).toMatch(/was not looked at: the nodes before took all the work/)
  })
})

/** A module with `_start` and so many imports. */
function importing(count: number): Uint8Array {
  const u32 = (value: number): number[] =>
    value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...u32(Math.floor(value / 0x80))]
  const imports = [...u32(count), ...Array.from({ length: count }, () => [1, 0x61, 1, 0x62, 0, 0]).flat()]
  const name = [...new TextEncoder().encode('_start')]
  const exported = [1, name.length, ...name, 0, ...u32(count)]
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0],
    ...[2, ...u32(imports.length), ...imports, 3, 2, 1, 0],
    ...[7, ...u32(exported.length), ...exported, 10, 4, 1, 2, 0, 0x0b],
  ])
}

describe('guests of a run', () => {
  test('are what whoever approves is told: form, digest, size, imports and nodes', async () => {
    const asking = module('asking-c', { grants: ['prices.lookup'] })
    const plan = planOf(
      {
        a: asking,
        each: { kind: 'each', over: [1], most: 1, do: { nodes: { b: asking } } },
        c: component('tool-c', { export: 'run', args: ['x'], grants: ['hostCall'] }),
      },
      ['prices.lookup', 'hostCall'],
    )
    const run = await runtime.propose(plan, { by: 'test', wasm: wasmOf(plan) })
    const guests = await run.guests()
    expect(guests).toMatchObject([
      {
        form: 'module',
        digest: digestOf('asking-c'),
        nodes: ['a', 'each/b'],
        bytes: bytesOf('asking-c').length,
      },
      { form: 'component', digest: digestOf('tool-c'), nodes: ['c'] },
    ])
    expect(guests[0]?.imports).toContainEqual({ interface: 'prices', name: 'lookup' })
    expect(guests[0]?.imports).toContainEqual({ interface: 'wasi_snapshot_preview1', name: 'fd_write' })
    expect(guests[1]?.imports).toContainEqual({ interface: '$root', name: 'host-call' })
    expect(guests[1]?.importCount).toBe(guests[1]?.imports.length)
  })
})
