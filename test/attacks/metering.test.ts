/**
 * Attacks on the metering of modules: code that tries to run on without being charged or asked.
 *
 * For each: it stops because the host said so, its work is bounded by the limit, and where it stops does not depend
 * on the profile, the size of the slices or the host's stack.
 */
import { describe, expect, it } from 'vitest'
import { assemble } from '../../src/wasm/assemble.testkit.ts'
import { BULK_PRICES } from '../../src/wasm/cost.ts'
import { meter } from '../../src/wasm/meter.ts'
import { ModuleBuilder } from '../metering/corpus/module-builder.ts'
import { type Guest, openEngineGuest, openInterpretedGuest } from '../metering/harness/guest.ts'
import { type FuelPlan, MeteredRun, type OpenGuest } from '../metering/harness/metered-run.ts'
import { OP } from '../metering/oracle/instruction.ts'
import { leb } from '../metering/oracle/numeric-stubs.ts'

const PROFILES = ['v8', 'portable'] as const
const LIMIT = 3_000_000n
const SLICES = [1_000n, 1_000_000n]

/** Endless programs: fields, helper functions, and the body of `run`. */
const ENDLESS: Readonly<Record<string, { readonly fields?: string; readonly run: string }>> = {
  'a loop of one branch': { run: '(loop $l (br $l))' },
  'a loop whose body costs nothing but its branch': {
    run: '(loop $l (block (nop) (block (nop))) (br $l))',
  },
  'a loop by br_if': { run: '(loop $l (br_if $l (i32.const 1)))' },
  'a loop by br_table': {
    run: '(loop $l (block $out (br_table $l $out $l (i32.const 0))))',
  },
  'a loop by the default of br_table': {
    run: '(loop $l (block $out (br_table $out $l (i32.const 77))))',
  },
  'two loops that go round through each other': {
    run: `(loop $a (loop $b
      (global.set $work (i32.add (global.get $work) (i32.const 1)))
      (br_if $a (i32.and (global.get $work) (i32.const 1)))
      (br_if $b (i32.and (global.get $work) (i32.const 2)))
      (br $a)))`,
  },
  'an outer loop that is re-entered from twenty levels of inner loops': {
    run: `${Array.from({ length: 20 }, (_, i) => `(loop $l${i}`).join(' ')}
      (global.set $work (i32.add (global.get $work) (i32.const 1)))
      (br_table ${Array.from({ length: 20 }, (_, i) => `$l${i}`).join(' ')} (i32.rem_u (global.get $work) (i32.const 20)))
      ${')'.repeat(20)}`,
  },
  'a loop with a parameter': {
    run: '(i32.const 0) (loop $l (param i32) (i32.const 1) (i32.add) (br $l)) (unreachable)',
  },
  'a function that tail-calls itself': {
    fields: '(func $f (return_call $f))',
    run: '(call $f)',
  },
  'functions that tail-call each other through a table': {
    fields: `(type $t (func (param i32))) (table 2 funcref) (elem (i32.const 0) $even $odd)
      (func $even (param i32) (return_call_indirect (type $t) (local.get 0) (i32.const 1)))
      (func $odd (param i32) (return_call_indirect (type $t) (local.get 0) (i32.const 0)))`,
    run: '(call $even (i32.const 3))',
  },
  'a function that exports itself as the only code': { run: '(return_call $run)' },
  'a loop of calls of a function too small to check': {
    fields: '(func $tiny)',
    run: '(loop $l (call $tiny) (br $l))',
  },
  'throw, catch, again': {
    fields: '(tag $e)',
    run: '(loop $l (try (do (throw $e)) (catch $e)) (br $l))',
  },
  'a handler that goes round': {
    fields: '(tag $e)',
    run: '(loop $l (try (do (throw $e)) (catch_all (br $l))))',
  },
  'catch and rethrow, caught outside, again': {
    fields: '(tag $e)',
    run: '(loop $l (try (do (try (do (throw $e)) (catch_all (rethrow 0)))) (catch_all)) (br $l))',
  },
  'a callee that throws, delegated outwards, again': {
    fields: '(tag $e) (func $thrower (throw $e))',
    run: '(loop $l (try $o (do (try (do (call $thrower)) (delegate $o))) (catch_all)) (br $l))',
  },
  'fills of 64 KiB': {
    fields: '(memory 1)',
    run: '(loop $l (memory.fill (i32.const 0) (i32.const 1) (i32.const 65536)) (br $l))',
  },
  'empty fills': {
    fields: '(memory 1)',
    run: '(loop $l (memory.fill (i32.const 0) (i32.const 1) (i32.const 0)) (br $l))',
  },
  'memory.init': {
    fields: '(memory 1) (data $d "0123456789")',
    run: '(loop $l (memory.init $d (i32.const 0) (i32.const 0) (i32.const 10)) (br $l))',
  },
  'growing by nothing': {
    fields: '(memory 1 10)',
    run: '(loop $l (drop (memory.grow (i32.const 0))) (br $l))',
  },
  'growing beyond the maximum': {
    fields: '(memory 1 3)',
    run: '(loop $l (drop (memory.grow (i32.const 1))) (br $l))',
  },
  'growing beyond everything': {
    fields: '(memory 1 3)',
    run: '(loop $l (drop (memory.grow (i32.const -1))) (br $l))',
  },
  'table fills': {
    fields: '(table $t 5000 funcref)',
    run: '(loop $l (table.fill $t (i32.const 0) (ref.null func) (i32.const 5000)) (br $l))',
  },
  'table growth': {
    fields: '(table $t 1 100 funcref)',
    run: '(loop $l (drop (table.grow $t (ref.null func) (i32.const 1))) (br $l))',
  },
  'host calls': { run: '(loop $l (call $host) (br $l))' },
}

const EXNREF_ENDLESS: Readonly<Record<string, { readonly fields?: string; readonly run: string }>> = {
  'a catch clause that goes round': {
    fields: '(tag $e)',
    run: '(loop $l (try_table (catch_all $l) (throw $e)))',
  },
  'throw_ref of what was caught, caught again': {
    fields: '(tag $e)',
    run: `(loop $l (block $out (result exnref) (try_table (catch_all_ref $out) (throw $e)) (unreachable))
      (drop) (br $l))`,
  },
}

function moduleOf({ fields = '', run }: { readonly fields?: string; readonly run: string }): Uint8Array {
  return assemble(`(module
    (import "host" "call" (func $host))
    (global $work (export "work") (mut i32) (i32.const 0))
    ${fields}
    (func $run (export "run") ${run}))`)
}

const createImports = () => ({ host: { call: () => undefined } })

interface Stopped {
  readonly stopped: string | undefined
  readonly spent: bigint
  readonly refills: number
  readonly guest: Guest
  readonly run: MeteredRun
}

/** Calls `run`, which must trap because the host stopped it. */
function runUntilStopped(wasm: Uint8Array, plan: FuelPlan, openGuest: OpenGuest = openEngineGuest): Stopped {
  const run = new MeteredRun(plan)
  const guest = run.open(wasm as Uint8Array<ArrayBuffer>, createImports, openGuest)
  expect(() => guest.invoke('run', [])).toThrow(WebAssembly.RuntimeError)
  return { stopped: run.stopped, spent: run.spent(guest), refills: run.refills, guest, run }
}

/** What one piece of a bulk instruction, or one growth of a page, may add to the limit. */
const LARGEST_PIECE = Math.max(
  ...Object.values(BULK_PRICES).map(({ fuelPerUnit, pieceUnits }) => fuelPerUnit * Math.max(pieceUnits, 1)),
)

function expectStops(wasm: Uint8Array, openGuest: OpenGuest): void {
  const spent = new Set<bigint>()
  for (const profile of PROFILES) {
    const metered = meter(wasm, { profile })
    for (const slice of SLICES) {
      const end = runUntilStopped(metered.wasm, { slice, limit: LIMIT }, openGuest)
      expect(end.stopped, profile).toBe('fuel')
      expect(end.spent).toBeGreaterThan(LIMIT)
      const overrun = Number(end.spent - LIMIT)
      expect(overrun).toBeLessThanOrEqual(metered.report.maxFuelBetweenChecks + LARGEST_PIECE)
      spent.add(end.spent)
    }
  }
  expect([...spent], 'the same fuel for both profiles and all slices').toHaveLength(1)
}

describe('endless programs stop for fuel, at the same place in both profiles and for every slice', () => {
  it.each(Object.entries(ENDLESS))('%s', (_, program) => {
    expectStops(moduleOf(program), openEngineGuest)
  })

  it.each(Object.entries(EXNREF_ENDLESS))('%s', (_, program) => {
    const wasm = moduleOf(program)
    const runs = WebAssembly.validate(wasm as Uint8Array<ArrayBuffer>)
    expectStops(wasm, runs ? openEngineGuest : openInterpretedGuest)
  })
})

describe('one huge bulk instruction', () => {
  const cases = {
    fill: '(memory.fill (i32.const 0) (i32.const 7) (i32.const 0x10000000))',
    copy: '(memory.copy (i32.const 0x8000000) (i32.const 0) (i32.const 0x8000000))',
    'copy to lower addresses': '(memory.copy (i32.const 0) (i32.const 0x8000000) (i32.const 0x8000000))',
  }
  it.each(Object.entries(cases))('is stopped between its pieces: %s', (_, run) => {
    const wasm = moduleOf({ fields: '(memory 4096)', run })
    const { fuelPerUnit, pieceUnits } = BULK_PRICES['memory.copy']
    for (const profile of PROFILES) {
      const end = runUntilStopped(meter(wasm, { profile }).wasm, { slice: 10_000n, limit: LIMIT })
      expect(end.stopped).toBe('fuel')
      expect(Number(end.spent - LIMIT)).toBeLessThanOrEqual(fuelPerUnit * pieceUnits + 1_000)
    }
  })

  it('writes no more than it was paid for', () => {
    const wasm = moduleOf({
      fields: '(memory (export "memory") 256)',
      run: cases.fill.replace('0x10000000', '0x1000000'),
    })
    const { fuelPerUnit, pieceUnits } = BULK_PRICES['memory.fill']
    for (const profile of PROFILES) {
      const { guest } = runUntilStopped(meter(wasm, { profile }).wasm, { slice: 10_000n, limit: LIMIT })
      const written = guest.memoryBytes('memory').lastIndexOf(7) + 1
      expect(written * fuelPerUnit).toBeLessThanOrEqual(Number(LIMIT) + pieceUnits * fuelPerUnit)
      expect(written).toBeGreaterThan(0)
    }
  })

  it('that is out of bounds traps before anything is written or charged by size', () => {
    const wasm = assemble(`(module (memory (export "memory") 4)
      (func (export "run") (memory.fill (i32.const 1) (i32.const 7) (i32.const 262144))))`)
    for (const profile of PROFILES) {
      const run = new MeteredRun()
      const guest = run.open(meter(wasm, { profile }).wasm as Uint8Array<ArrayBuffer>, createImports)
      expect(() => guest.invoke('run', [])).toThrow(/out of bounds/)
      expect(run.stopped).toBeUndefined()
      expect(guest.memoryBytes('memory').includes(7)).toBe(false)
      expect(run.spent(guest)).toBeLessThan(10_000n)
    }
  })
})

/** Recursions without end; each level adds 1 to the global `work`. */
const RECURSIONS: Readonly<Record<string, { readonly fields?: string; readonly run: string }>> = {
  'a function that calls itself': {
    fields: '(func $f (global.set $work (i32.add (global.get $work) (i32.const 1))) (call $f) (call $f))',
    run: '(call $f)',
  },
  'a function with a large frame': {
    fields: `(func $f (param i64) (result i64) ${'(local i64)'.repeat(200)}
      (global.set $work (i32.add (global.get $work) (i32.const 1)))
      (local.set 100 (call $f (local.get 7)))
      (i64.add (local.get 100) (i64.add (call $f (local.get 0)) (local.get 100))))`,
    run: '(drop (call $f (i64.const 1)))',
  },
  'functions that call each other through a table': {
    fields: `(type $t (func (param i32) (result i32))) (table 2 funcref) (elem (i32.const 0) $even $odd)
      (func $even (param i32) (result i32)
        (global.set $work (i32.add (global.get $work) (i32.const 1)))
        (i32.add (call_indirect (type $t) (local.get 0) (i32.const 1)) (i32.const 1)))
      (func $odd (param i32) (result i32)
        (global.set $work (i32.add (global.get $work) (i32.const 1)))
        (i32.add (call_indirect (type $t) (local.get 0) (i32.const 0)) (i32.const 1)))`,
    run: '(drop (call $even (i32.const 3)))',
  },
  'a long chain of functions that comes back to its beginning': {
    fields: Array.from(
      { length: 50 },
      (_, i) => `(func $f${i} (global.set $work (i32.add (global.get $work) (i32.const 1)))
        (call $f${(i + 1) % 50}) (nop) (global.set $work (i32.const 0)))`,
    ).join('\n'),
    run: '(call $f0)',
  },
  'recursion inside a try that catches everything': {
    fields: `(func $f (global.set $work (i32.add (global.get $work) (i32.const 1)))
      (try (do (call $f)) (catch_all (call $f))))`,
    run: '(call $f)',
  },
  'recursion below a tail call': {
    fields: `(func $f (global.set $work (i32.add (global.get $work) (i32.const 1))) (call $g) (call $g))
      (func $g (return_call $f))`,
    run: '(call $f)',
  },
}

/** Calls `work` from `depth` further frames of the host. */
function fromHostDepth<T>(depth: number, work: () => T): T {
  return depth === 0 ? work() : ([depth].map((left) => fromHostDepth(left - 1, work))[0] as T)
}

describe('recursion without end', () => {
  it.each(Object.entries(RECURSIONS))(
    'ends at one depth, whatever the profile and the host: %s',
    (_, program) => {
      const wasm = moduleOf(program)
      const depths = new Set<string>()
      for (const profile of PROFILES) {
        const metered = meter(wasm, { profile }).wasm
        for (const hostDepth of [0, 300, 1_000]) {
          const end = fromHostDepth(hostDepth, () => runUntilStopped(metered, { depth: 100_000 }))
          expect(end.stopped, `${profile} at host depth ${hostDepth}`).toBe('depth')
          depths.add(`${end.guest.readGlobal('work')} ${end.spent}`)
        }
      }
      expect([...depths]).toHaveLength(1)
    },
  )

  it('goes deeper in proportion to the allowance', () => {
    const wasm = moduleOf(RECURSIONS['a function that calls itself'] as (typeof RECURSIONS)[string])
    const { wasm: metered } = meter(wasm, { profile: 'v8' })
    const deepest = (depth: number): number =>
      runUntilStopped(metered, { depth }).guest.readGlobal('work') as number
    expect(deepest(200_000) / deepest(100_000)).toBeCloseTo(2, 1)
  })

  it('leaves the native stack alone: the estimate covers what the engine uses', () => {
    for (const [name, program] of Object.entries(RECURSIONS)) {
      const { wasm } = meter(moduleOf(program), { profile: 'v8' })
      expect(runUntilStopped(wasm, { depth: 262_144 }).stopped, name).toBe('depth')
    }
  })
})

describe('a call chain without recursion', () => {
  it('ends by the depth allowance and not by the native stack', () => {
    const [length, locals] = [3_000, 60]
    const builder = new ModuleBuilder()
    const chain = Array.from({ length }, () => builder.declare(['i32'], ['i32']))
    chain.forEach((index, i) => {
      const next = chain[i + 1]
      const call = next === undefined ? [] : [OP.call, ...leb(next), OP.local_get, 0, 0x6a]
      builder.define(index, new Array<'i64'>(locals).fill('i64'), [OP.local_get, 0, ...call])
    })
    builder.export('run', chain[0] as number)
    const wasm = builder.build()
    const spent = new Set<bigint>()
    for (const profile of PROFILES) {
      const end = runUntilStopped(meter(wasm, { profile }).wasm, { depth: 262_144 })
      expect(end.stopped).toBe('depth')
      spent.add(end.spent)
    }
    expect([...spent]).toHaveLength(1)
  })
})

describe('the depth allowance', () => {
  it('is whole again after returns, tail calls, and exceptions through three frames', () => {
    const wasm = assemble(`(module
      (tag $e)
      (type $t (func (param i32) (result i32)))
      (table 1 funcref) (elem (i32.const 0) $a)
      (func $a (param i32) (result i32)
        (if (i32.eqz (local.get 0)) (then (throw $e)))
        (if (i32.eq (local.get 0) (i32.const 100)) (then (return_call $leaf (local.get 0))))
        (call $b (i32.sub (local.get 0) (i32.const 1))))
      (func $b (param i32) (result i32)
        (i32.add (call_indirect (type $t) (local.get 0) (i32.const 0)) (i32.const 1)))
      (func $leaf (param i32) (result i32) (local.get 0))
      (func (export "run") (param $n i32) (local $i i32)
        (loop $l
          (try (do (drop (call $a (i32.const 50)))) (catch_all))
          (drop (call $a (i32.const 150)))
          (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))))`)
    for (const profile of PROFILES) {
      const run = new MeteredRun({ depth: 50_000 })
      const guest = run.open(meter(wasm, { profile }).wasm as Uint8Array<ArrayBuffer>, createImports)
      guest.invoke('run', [2_000])
      expect(run.depthLeft(guest)).toBe(50_000)
    }
  })
})

describe('the meter itself', () => {
  it('adds its counters only where the host sees them', () => {
    const wasm = moduleOf({ run: '(loop $l (br $l))' })
    const names = WebAssembly.Module.exports(new WebAssembly.Module(wasm as Uint8Array<ArrayBuffer>))
    expect(names.map(({ name }) => name)).toEqual(['work', 'run'])
  })

  const impostors = {
    'an export named like the fuel counter': '(global (export "caisson.fuel") i32 (i32.const 0))',
    'an export named like the depth counter': '(func (export "caisson.depth"))',
    'an import of refill': '(import "caisson" "refill" (func (param i32) (result i64)))',
    'an import of something else from there': '(import "caisson" "other" (func))',
  }
  it.each(Object.entries(impostors))('refuses %s', (_, field) => {
    for (const profile of PROFILES)
      expect(() => meter(assemble(`(module ${field})`), { profile })).toThrow(/caisson/)
  })
})

describe('growth', () => {
  it('is paid before it happens: a guest that cannot pay does not get the memory', () => {
    const wasm = moduleOf({
      fields: '(memory (export "memory") 1 2000)',
      run: '(drop (memory.grow (i32.const 1500)))',
    })
    for (const profile of PROFILES) {
      const end = runUntilStopped(meter(wasm, { profile }).wasm, { slice: 1_000n, limit: LIMIT })
      expect(end.stopped).toBe('fuel')
      expect(end.guest.memoryBytes('memory')).toHaveLength(65_536)
    }
  })

  it('ends at the cap, whatever the module declares', () => {
    const wasm = assemble(`(module (memory (export "memory") 1 5000) (table (export "table") 1 100000 funcref)
      (func (export "pages") (result i32) (loop $l (br_if $l (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
        (memory.size))
      (func (export "entries") (result i32)
        (loop $l (br_if $l (i32.ne (table.grow 0 (ref.null func) (i32.const 7)) (i32.const -1))))
        (table.size 0)))`)
    for (const profile of PROFILES) {
      const metered = meter(wasm, { profile, maxMemoryPages: 10, maxTableEntries: 50 })
      const guest = new MeteredRun().open(metered.wasm as Uint8Array<ArrayBuffer>, createImports)
      expect(guest.invoke('pages', [])).toEqual([10])
      expect(guest.invoke('entries', [])).toEqual([50])
    }
  })
})
