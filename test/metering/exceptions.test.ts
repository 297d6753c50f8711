/**
 * Fuel of what ran before an exception, however many frames it passes.
 *
 * A placement that charges behind the work is skipped by unwinding: 16 million additions once cost 0.
 */
import { describe, expect, it } from 'vitest'
import { assemble } from '../../src/wasm/assemble.testkit.ts'
import { fuelCost } from '../../src/wasm/cost.ts'
import { meter } from '../../src/wasm/meter.ts'
import type { MeterOptions } from '../../src/wasm/meter-options.ts'
import { type ImportFactory, openEngineGuest, openInterpretedGuest } from './harness/guest.ts'
import { MeteredRun, type OpenGuest } from './harness/metered-run.ts'
import { chargeBlocks, SPENT_EXPORT } from './oracle/block-charger.ts'
import { FuelCount } from './oracle/fuel-count.ts'
import { OP } from './oracle/instruction.ts'

const PROFILES = ['v8', 'portable'] as const

/** Throws a tagged exception, a host error, or nothing, as `which` says; re-enters nothing. */
const createImports: ImportFactory = (host) => {
  const tag = host.createTag()
  return {
    host: {
      tag,
      call: (which: number) => {
        if (which === 1) host.throwTagged(tag, 5)
        if (which === 2) throw new Error('a host error')
      },
    },
  }
}

/** Calls `run`; an exception that leaves it is part of the test. */
function attempt(invoke: () => readonly unknown[]): string {
  try {
    return `returned ${invoke().join()}`
  } catch (thrown) {
    if (thrown instanceof WebAssembly.RuntimeError || thrown instanceof RangeError) throw thrown
    return 'threw'
  }
}

interface Counted {
  readonly end: string
  readonly fuel: bigint
}

function runInterpreted(wasm: Uint8Array, arg: number): Counted {
  const count = new FuelCount()
  const guest = openInterpretedGuest(wasm, createImports, count)
  const end = attempt(() => guest.invoke('run', [arg]))
  return { end, fuel: BigInt(count.fuel) }
}

function runMetered(
  wasm: Uint8Array,
  options: MeterOptions,
  arg: number,
  openGuest: OpenGuest = openEngineGuest,
  slice = 1_000n,
): Counted {
  const metered = meter(wasm, options).wasm as Uint8Array<ArrayBuffer>
  const run = new MeteredRun({ slice })
  const guest = run.open(metered, createImports, openGuest)
  const depth = run.depthLeft(guest)
  const end = attempt(() => guest.invoke('run', [arg]))
  if (end !== 'threw') expect(run.depthLeft(guest), 'the depth allowance is put back').toBe(depth)
  return { end, fuel: run.spent(guest) }
}

/** `count` additions on local 0. */
function additions(count: number): string {
  return '(local.set $x (i32.add (local.get $x) (i32.const 1)))\n'.repeat(count)
}

/** Functions $outer, $middle and $inner, each with work around its call; $inner ends by `last`. */
function threeFrames(last: string, work = 40): string {
  const frame = (name: string, inside: string): string => `
    (func ${name} (param $p i32) (result i32) (local $x i32)
      ${additions(work)}
      (if (i32.gt_s (local.get $p) (i32.const 1000)) (then ${additions(3)}) (else ${additions(7)}))
      ${inside}
      ${additions(work)}
      (local.get $x))`
  return `
    ${frame('$outer', '(local.set $x (i32.add (local.get $x) (call $middle (local.get $p))))')}
    ${frame('$middle', '(if (local.get $p) (then (local.set $x (call $inner (local.get $p)))))')}
    ${frame('$inner', last)}`
}

/** The ways in which $inner may end, given whether it shall throw as local $p. */
const ENDS: Readonly<Record<string, string>> = {
  throw: '(if (i32.eq (local.get $p) (i32.const 1)) (then (throw $tag (i32.const 9))))',
  'call of a host function that throws':
    '(call $host (i32.and (local.get $p) (i32.const 3))) (drop (i32.const 1))',
  'indirect call of a function that throws':
    '(if (i32.eq (local.get $p) (i32.const 1)) (then (call_indirect (type $nothing) (i32.const 0))))',
  'tail call of a function that throws':
    '(if (i32.eq (local.get $p) (i32.const 1)) (then (return_call $thrower (local.get $p))))',
  'throw below a loop':
    '(loop $again (local.set $x (i32.add (local.get $x) (i32.const 1))) (br_if $again (i32.rem_s (local.get $x) (i32.const 9))) (if (i32.eq (local.get $p) (i32.const 1)) (then (throw $tag (i32.const 9)))))',
}

/** Handlers around the call of $outer; each leaves an i32. */
const LEGACY_HANDLERS: Readonly<Record<string, string>> = {
  'no handler': '(call $outer (local.get $p))',
  catch: '(try (result i32) (do (call $outer (local.get $p))) (catch $tag))',
  catch_all: '(try (result i32) (do (call $outer (local.get $p))) (catch_all (i32.const -1)))',
  'catch and rethrow to another':
    '(try (result i32) (do (try (result i32) (do (call $outer (local.get $p))) (catch_all (rethrow 0)))) (catch_all (i32.const -2)))',
  delegate:
    '(try $away (result i32) (do (try (result i32) (do (call $outer (local.get $p))) (delegate $away))) (catch_all (i32.const -3)))',
}

const EXNREF_HANDLERS: Readonly<Record<string, string>> = {
  'no handler': '(call $outer (local.get $p))',
  catch_all:
    '(block $caught (return (try_table (result i32) (catch_all $caught) (call $outer (local.get $p))))) (i32.const -1)',
  catch:
    '(block $caught (result i32) (try_table (result i32) (catch $tag $caught) (call $outer (local.get $p))))',
  'catch_all_ref and throw_ref': `
    (block $outside
      (drop (try_table (result i32) (catch_all $outside)
        (throw_ref (block $caught (result exnref)
          (return (try_table (result i32) (catch_all_ref $caught) (call $outer (local.get $p)))))))))
    (i32.const -4)`,
}

function moduleOf(end: string, handler: string): Uint8Array {
  return assemble(`(module
    (type $nothing (func))
    (import "host" "call" (func $host (param i32)))
    (import "host" "tag" (tag $tag (param i32)))
    (table 1 funcref) (elem (i32.const 0) $throws)
    (func $throws (throw $tag (i32.const 3)))
    (func $thrower (param $p i32) (result i32) (local $x i32) ${additions(5)} (throw $tag (i32.const 4)))
    ${threeFrames(end)}
    (func (export "run") (param $p i32) (result i32) (local $x i32)
      ${additions(11)}
      ${handler}))`)
}

/** 1 throws a tagged exception, 2 a host error where the host is called, the others return. */
const ARGUMENTS = [0, 1, 2, 3, 2_000]

describe('throws through three frames cost exactly what ran', () => {
  const options = { importsMayThrow: true }
  for (const [endName, end] of Object.entries(ENDS)) {
    it.each(Object.entries(LEGACY_HANDLERS))(`legacy, ${endName}, %s`, (_, handler) => {
      const wasm = moduleOf(end, handler)
      for (const arg of ARGUMENTS) {
        const expected = runInterpreted(wasm, arg)
        for (const profile of PROFILES)
          expect(runMetered(wasm, { ...options, profile }, arg), `${profile} ${arg}`).toEqual(expected)
      }
    })

    it.each(Object.entries(EXNREF_HANDLERS))(`exception references, ${endName}, %s`, (_, handler) => {
      const wasm = moduleOf(end, handler)
      const ways: OpenGuest[] = [openInterpretedGuest]
      if (WebAssembly.validate(wasm as Uint8Array<ArrayBuffer>)) ways.push(openEngineGuest)
      for (const arg of ARGUMENTS) {
        const expected = runInterpreted(wasm, arg)
        for (const profile of PROFILES)
          for (const openGuest of ways)
            expect(runMetered(wasm, { ...options, profile }, arg, openGuest), `${profile} ${arg}`).toEqual(
              expected,
            )
      }
    })
  }

  it('really throws and really returns, so that the cases above mean something', () => {
    const wasm = moduleOf(ENDS.throw as string, LEGACY_HANDLERS['no handler'] as string)
    expect(ARGUMENTS.map((arg) => runInterpreted(wasm, arg).end.slice(0, 5))).toEqual([
      'retur',
      'threw',
      'retur',
      'retur',
      'retur',
    ])
  })
})

/** 1,000 calls of a function with 4,000 additions that ends in a call which throws; the handler counts. */
const LONG_WORK = `(module
  (tag $tag)
  (func $throws (throw $tag))
  (func $work (param $x i32) ${additions(4_000)} (call $throws) (drop (local.get $x)))
  (func (export "run") (param $n i32) (result i32) (local $caught i32)
    (loop $again
      (try (do (call $work (i32.const 0)))
        (catch $tag (local.set $caught (i32.add (local.get $caught) (i32.const 1)))))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $caught)))`

describe('1,000 times 4,000 additions before a call that throws', () => {
  const wasm = assemble(LONG_WORK)

  it('cost what plain block charging counts, which is at least the additions and the throws', () => {
    const charged = openEngineGuest(chargeBlocks(wasm), createImports)
    expect(charged.invoke('run', [1_000])).toEqual([1_000])
    const expected = charged.readGlobal(SPENT_EXPORT) as bigint
    expect(expected).toBeGreaterThan(BigInt(1_000 * (4_000 * 4 + fuelCost(OP.throw))))
    for (const profile of PROFILES)
      for (const slice of [1_000n, 1_000_000n])
        expect(runMetered(wasm, { profile }, 1_000, openEngineGuest, slice), `${profile} ${slice}`).toEqual({
          end: 'returned 1000',
          fuel: expected,
        })
  })

  it('agree with the interpreter', () => {
    for (const profile of PROFILES) expect(runMetered(wasm, { profile }, 7)).toEqual(runInterpreted(wasm, 7))
  })
})
