/** Components of several modules that wait: which of them can be unwound, and what becomes of those that cannot. */
import { parse } from '@bytecodealliance/jco-transpile/wasm-tools'
import { describe, expect, it } from 'vitest'
import { BINARYEN_VERSION, loadBinaryenAsyncify } from '../../host-bindings/asyncify/binaryen-asyncify.ts'
import { parseLimits } from '../machine/limits.ts'
import { CapabilityCalls } from './capability-calls.ts'
import { type ComponentInstance, openComponentInstance } from './component-instance.ts'
import { prepareCore } from './core/prepare-core.ts'
import { LateControl } from './guest-control.ts'
import { type PreparedComponent, prepareComponent } from './prepare-component.ts'
import { unwindProblem } from './unwinding.ts'
import { waitOptions } from './wait-options.ts'

const FOREVER = { deadline: Number.POSITIVE_INFINITY }
const asyncify = await loadBinaryenAsyncify()
const waits = waitOptions(['ask'], BINARYEN_VERSION, async (core, how) =>
  prepareCore(core, { ...how, asyncify }),
)

async function prepare(wat: string): Promise<PreparedComponent> {
  const options = { profile: 'v8', maxMemoryPages: 16, waits } as const
  return prepareComponent(await parse(wat), options, () => performance.now())
}

interface Opened {
  readonly instance: ComponentInstance
  readonly calls: CapabilityCalls
}

async function open(prepared: PreparedComponent): Promise<Opened> {
  const limits = parseLimits({ fuel: 1_000_000 })
  const control = new LateControl()
  const calls = new CapabilityCalls({
    capabilities: [{ name: 'ask', sync: false }],
    schemas: () => ({}),
    syncCalls: { call: () => undefined },
    limits,
    control,
    nowMs: () => 0,
  })
  const monotonic = (): number => performance.now()
  return {
    instance: await openComponentInstance(prepared, { imports: calls, limits, monotonic, control }),
    calls,
  }
}

/** Two core modules, `a` that asks and `b`, and which of them is called. */
const componentOf = (a: string, b: string, order: 'a b' | 'b a', run: 'a' | 'b'): string => `
(component
  (import "ask" (func $ask (param "n" u32) (result u32)))
  (core func $lowered (canon lower (func $ask)))
  (core module $ma (import "$root" "ask" (func $ask (param i32) (result i32))) ${a} (memory 1))
  (core module $mb ${b})
  ${order === 'a b' ? '' : '(core instance $b (instantiate $mb))'}
  (core instance $a (instantiate $ma (with "$root" (instance (export "ask" (func $lowered))))
    ${order === 'a b' ? '' : '(with "b" (instance $b))'}))
  ${order === 'a b' ? '(core instance $b (instantiate $mb (with "a" (instance $a))))' : ''}
  (func (export "run") (result u32) (canon lift (core func $${run} "run"))))`

const THROUGH_A_TABLE = componentOf(
  `(table (export "t") 2 2 funcref) (type $f (func (result i32)))
   (func $g (result i32) (call $ask (i32.const 4))) (elem (i32.const 1) $g)
   (func (export "run") (result i32) (call_indirect (type $f) (i32.const 0)))`,
  `(type $f (func (result i32))) (import "a" "t" (table 2 2 funcref))
   (func $h (result i32) (i32.add (call_indirect (type $f) (i32.const 1)) (i32.const 1))) (elem (i32.const 0) $h)`,
  'a b',
  'a',
)
const BY_NAME = componentOf(
  '(func (export "g") (result i32) (call $ask (i32.const 4)))',
  `(import "a" "g" (func $g (result i32)))
   (func (export "run") (result i32) (i32.add (call $g) (i32.const 1)))`,
  'a b',
  'b',
)
const THROUGH_A_REFERENCE = componentOf(
  `(import "b" "keep" (func $keep (param funcref))) (import "b" "call" (func $call (result i32)))
   (func $g (result i32) (call $ask (i32.const 4))) (elem declare func $g)
   (func (export "run") (result i32) (call $keep (ref.func $g)) (call $call))`,
  `(table $t 1 1 funcref) (type $f (func (result i32)))
   (func (export "keep") (param funcref) (table.set $t (i32.const 0) (local.get 0)))
   (func (export "call") (result i32) (i32.add (call_indirect (type $f) (i32.const 0)) (i32.const 1)))`,
  'b a',
  'a',
)
const ASIDE = componentOf(
  `(import "b" "half" (func $half (param i32) (result i32)))
   (func (export "run") (result i32) (i32.add (call $half (call $ask (i32.const 4))) (call $half (i32.const 6))))`,
  '(func (export "half") (param i32) (result i32) (i32.shr_u (local.get 0) (i32.const 1)))',
  'b a',
  'a',
)

/** As wit-component makes reactors: their start is called by a module that has nothing else. */
const INITIALIZED = componentOf(
  `(global $begun (mut i32) (i32.const 0))
   (func (export "_initialize") (global.set $begun (i32.const 1)))
   (func (export "run") (result i32) (i32.add (call $ask (i32.const 4)) (global.get $begun)))`,
  '(import "a" "_initialize" (func $i)) (start $i)',
  'a b',
  'a',
)
const COERCED = componentOf(
  '(func (export "g") (param i32) (result i32) (call $ask (local.get 0)))',
  `(import "a" "g" (func $g (param f64) (result f64)))
   (func (export "run") (result i32) (i32.trunc_f64_s (call $g (f64.const 2.9))))`,
  'a b',
  'b',
)

describe('a component of several modules', () => {
  it.each([
    ['only help', ASIDE, 13],
    ['only call its start', INITIALIZED, 21],
  ])('is unwound where the others %s', async (_, wat, value) => {
    const prepared = await prepare(wat)
    expect(await unwindProblem(prepared)).toBeUndefined()
    const { instance, calls } = await open(prepared)
    expect(instance.enter('run', [], FOREVER)).toEqual({ status: 'waiting' })
    const [pending] = calls.pending
    const answer = calls.deliver([{ id: pending?.id ?? 0, ok: true, value: 20 }], '$root', 'ask')
    expect(instance.resume(answer as () => unknown, FOREVER)).toMatchObject({ status: 'completed', value })
  })

  it('is refused by the engine where its modules do not fit, as any other', async () => {
    await expect(open(await prepare(COERCED))).rejects.toMatchObject({ code: 'invalid_component' })
  })

  it.each([
    ['through a table', THROUGH_A_TABLE, /through a table/],
    ['by an import', BY_NAME, /by g/],
    ['through a reference', THROUGH_A_REFERENCE, /through a table/],
  ])('is not where another one calls the one that waits, %s, and waits nowhere then', async (_, wat, why) => {
    const prepared = await prepare(wat)
    expect(prepared.cores.some(({ manifest }) => manifest.suspends.length > 0)).toBe(true)
    expect(await unwindProblem(prepared)).toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(why),
    })
    const { instance, calls } = await open(prepared)
    expect(instance.enter('run', [], FOREVER)).toMatchObject({
      status: 'failed',
      error: { code: 'unsupported', message: expect.stringMatching(/"\$root#ask".*reexecute/) },
    })
    expect(instance.state).toBe('over')
    expect(calls.takeAsked()).toHaveLength(1)
  })
})
