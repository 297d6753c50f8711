/**
 * Attacks on reproducibility: the same program with the same answers must use the same fuel and end in the same
 * memory, whatever ran in its instance before, in how many slices its fuel is handed out, and where it stops.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createFixedClock } from '../../host-bindings/system/system-clock.ts'
import { type Capability, capability, type Outcome, openRuntime, type Runtime } from '../../src/entry/node.ts'
import { EngineInstance } from '../../src/isolate/engine-instance.ts'
import { base, engine } from '../../src/isolate/isolate.testkit.ts'
import { FuelGauge } from '../../src/machine/fuel-gauge.ts'
import { echo, syncEcho } from '../echo-tools.ts'

const tools: Capability[] = [
  syncEcho,
  echo,
  capability({
    name: 'tools.fail',
    description: 'Fails',
    effect: 'read',
    invoke: () => Promise.reject(new Error('no')),
  }),
]
const grants = tools.map(({ name }) => name)

/** Programs that touch everything whose cost or state could depend on something else than themselves. */
const PROGRAMS: Readonly<Record<string, string>> = {
  'calls, logs and rejections': `
    const out = []
    for (let i = 0; i < 12; i++) {
      console.log('line', i, { i })
      out.push(tools.sync({ i, m: new Map([[i, i]]) }), await tools.echo([i, 'x'.repeat(i * 100)]))
      try { await tools.fail() } catch (e) { out.push(e.code) }
      Promise.reject(new Error('r' + i))
    }
    return [out.length, Math.random(), Date.now()]`,
  'a growing memory': `
    const a = []
    for (let i = 0; i < 12; i++) a.push(new Uint8Array(2e5).fill(i))
    await tools.echo(a[3])
    return a.length`,
  'errors and stacks': `
    function f(n) { return n ? f(n - 1) : null.x }
    try { f(20) } catch (e) { console.log(e.stack) }
    class Own extends Error {}
    throw new Own('boom')`,
  'weak references': `
    const r = new FinalizationRegistry(() => console.log('gone'))
    for (let i = 0; i < 500; i++) r.register({ i }, i)
    const w = new WeakRef({})
    await tools.echo(1)
    return w.deref() === undefined`,
  'an end for fuel in the middle of everything': `
    let n = 0
    const a = []
    for (;;) {
      n++
      if (n % 300 === 0) tools.sync(n)
      if (n % 700 === 0) console.log(n, { n })
      if (n % 900 === 0) Promise.reject(n)
      a.push({ n })
      if (a.length > 2000) a.length = 0
    }`,
  'an end for memory': 'const a = []; for (let i = 0; ; i++) { a.push(new Uint8Array(5e4)); tools.sync(i) }',
  'an end for stack': 'let n = 0; (function f() { tools.sync(++n); f() })()',
}

const DIRTY: readonly string[] = [
  'while (1);',
  'const a = []; for (;;) a.push(new Uint8Array(1e5).fill(255))',
  '(function f() { f() })()',
  'globalThis.kept = Array.from({ length: 3e4 }, (_, i) => ({ i })); throw kept',
  'await tools.echo(1); await new Promise(() => {})',
  'for (let i = 0; i < 1000; i++) { globalThis["k" + i] = Symbol.for("s" + i); console.log(i) }',
  'for (let i = 0; i < 100; i++) eval("class A" + i + " { #x; y = 1 }; new A" + i)',
]

function signature(outcome: Outcome): unknown {
  const { fuel, memoryBytes, calls, bytesIn, bytesOut, logsDropped } = outcome.usage
  const { wallMs: _, ...rest } = { ...outcome, wallMs: 0 }
  return { ...rest, usage: { fuel, memoryBytes, calls, bytesIn, bytesOut, logsDropped } }
}

describe('the same program in the same pool', () => {
  let runtime: Runtime
  beforeAll(async () => {
    runtime = await openRuntime({ capabilities: tools, clock: createFixedClock(1_000), keepInstances: 1 })
  })
  afterAll(() => runtime.close())

  for (const [name, source] of Object.entries(PROGRAMS)) {
    it(`ends alike after guests of every kind: ${name}`, async () => {
      const run = async (): Promise<unknown> =>
        signature(
          await runtime.run(source, {
            grants,
            seed: 7,
            stateDigest: true,
            limits: { fuel: 30_000_000, memoryBytes: 8 * 1024 * 1024 },
          }),
        )
      const first = await run()
      for (const dirty of DIRTY) {
        await runtime.run(dirty, { grants, limits: { fuel: 5_000_000, memoryBytes: 4 * 1024 * 1024 } })
        expect(await run()).toEqual(first)
      }
    })
  }
})

describe('fuel in slices', () => {
  /** Evaluates with slices of this size, charging for host work in between; the fuel used, and the end. */
  function evaluate(source: string, slice: number, limit: number, charges: readonly number[]): unknown {
    const { Instance } = WebAssembly
    let gauge: FuelGauge | undefined
    // An instance asks its own gauge, whose slices have one size. Ours answers in its place.
    WebAssembly.Instance = class {
      constructor(module: WebAssembly.Module, imports: WebAssembly.Imports) {
        const own = imports.caisson?.refill as FuelGauge['refill']
        const refill: FuelGauge['refill'] = (kind) => (gauge?.refill ?? own)(kind)
        // biome-ignore lint/correctness/noConstructorReturn: it stands in for the real one
        return new Instance(module, { ...imports, caisson: { refill } })
      }
    } as unknown as typeof Instance
    let instance: EngineInstance
    try {
      instance = new EngineInstance(engine, 64, () => 0)
    } finally {
      WebAssembly.Instance = Instance
    }
    base.restore(instance)
    const globals = instance.exports as unknown as Record<string, WebAssembly.Global>
    gauge = new FuelGauge(
      {
        fuel: globals['caisson.fuel'] as WebAssembly.Global,
        depth: globals['caisson.depth'] as WebAssembly.Global,
      },
      () => 0,
      slice,
    )
    let calls = 0
    instance.serve(
      {
        call: () => {
          gauge?.charge(charges[calls++ % charges.length] as number)
          return 0
        },
        readClock: () => 0,
        promiseRejection: () => {},
      },
      4 * 1024 * 1024,
    )
    gauge.reset(limit)
    gauge.begin(1_048_576, Number.POSITIVE_INFINITY, undefined)
    const code = instance.allocateText(source)
    let end = 'done'
    try {
      instance.exports.QTS_Eval(base.guest.context, code.pointer, code.bytes, code.pointer, 0, 0)
    } catch {
      end = 'stopped'
    }
    gauge.end()
    return [end, gauge.consumed, gauge.stopReason, calls]
  }

  it('are counted alike whatever their size, up to the same stop', () => {
    const source =
      'for (let i = 0; i < 300; i++) { console.log(i); JSON.stringify({ i, s: "x".repeat(i % 50) }) }'
    for (const limit of [500_000, 1_111_111, 2 ** 40]) {
      const expected = evaluate(source, 500_000, limit, [2_000, 17, 30_000])
      for (const slice of [1, 999, 12_345, 77_777, 1_000_000, 2 ** 40]) {
        expect([slice, evaluate(source, slice, limit, [2_000, 17, 30_000])]).toEqual([slice, expected])
      }
    }
  })
})
