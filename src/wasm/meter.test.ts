import { describe, expect, it } from 'vitest'
import { CaissonError } from '../base/errors.ts'
import { assemble, exported, instantiate } from './assemble.testkit.ts'
import { fuelCost } from './cost.ts'
import { encodeModule } from './encode-module.ts'
import { meter } from './meter.ts'
import {
  DEPTH_EXPORT,
  INITIAL_DEPTH,
  INITIAL_FUEL,
  type MeterOptions,
  type MeterProfile,
  START_EXPORT,
} from './meter-options.ts'
import { countedFuel, openMetered, type RunOptions } from './metered.testkit.ts'
import { parseModule } from './parse-module.ts'

const PROFILES: readonly MeterProfile[] = ['v8', 'portable']

/** Runs `run(arg)` in both profiles and several slices, and expects the fuel of counting every instruction. */
function expectExact(text: string, args: readonly number[], options: RunOptions = {}): void {
  const wasm = assemble(text)
  for (const arg of args) {
    const expected = countedFuel(wasm, 'run', [arg], options.imports)
    for (const profile of PROFILES) {
      for (const slice of [undefined, 1n, 97n, 10_000n]) {
        const run = openMetered(wasm, { ...options, profile, ...(slice === undefined ? {} : { slice }) })
        const outcome = run.outcome('run', arg)
        expect([profile, slice, arg, run.used()]).toEqual([profile, slice, arg, expected])
        if (outcome === 'returned') expect(run.depth()).toBe(100_000_000)
      }
    }
  }
}

describe('fuel is exact (invariant 1)', () => {
  it('over branches, loops and early returns', () => {
    expectExact(
      `(module (func (export "run") (param $n i32) (result i32) (local $sum i32)
        (block $out
          (loop $next
            (br_if $out (i32.eqz (local.get $n)))
            (if (i32.and (local.get $n) (i32.const 1))
              (then (local.set $sum (i32.add (local.get $sum) (i32.const 3))))
              (else (if (i32.eq (local.get $n) (i32.const 40)) (then (return (local.get $sum))))))
            (local.set $n (i32.sub (local.get $n) (i32.const 1)))
            (br $next)))
        (local.get $sum)))`,
      [0, 1, 7, 39, 60],
    )
  })

  it('over br_table, with and without values', () => {
    expectExact(
      `(module (func (export "run") (param $n i32) (result i32) (local $sum i32)
        (loop $next
          (local.set $sum (i32.add (local.get $sum)
            (block $three (result i32) (block $two (result i32) (block $one (result i32)
              (br_table $one $two $three (i32.const 5) (i32.and (local.get $n) (i32.const 3))))
              (i32.mul (i32.const 2)))
              (i32.div_u (i32.const 3)))))
          (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
        (local.get $sum)))`,
      [1, 2, 3, 4, 50],
    )
  })

  it('over entries of br_table that lead back to a loop', () => {
    expectExact(
      `(module (func (export "run") (param $n i32) (result i32) (local $sum i32)
        (loop $next (result i32)
          (if (i32.eqz (local.get $n)) (then (return (local.get $sum))))
          (local.set $n (i32.sub (local.get $n) (i32.const 1)))
          (block $two
            (block $one
              (br_table $next $one $next $two (i32.and (local.get $n) (i32.const 3))))
            (local.set $sum (i32.add (local.get $sum) (i32.const 1)))
            (br $next))
          (local.set $sum (i32.mul (local.get $sum) (i32.const 3)))
          (br $next))))`,
      [0, 1, 2, 3, 4, 50],
    )
  })

  it('over tight loops, which have values and are left in every way', () => {
    expectExact(
      `(module (func (export "run") (param $n i32) (result i32) (local $i i32) (local $sum i32)
        (block $out
          (loop $outer
            (local.set $i (i32.const 40))
            (local.set $sum (i32.add (local.get $sum)
              (loop $inner (result i32)
                (local.set $i (i32.sub (local.get $i) (i32.const 1)))
                (br_if $out (i32.eq (local.get $i) (i32.add (local.get $n) (i32.const 29))))
                (drop (br_if 3 (i32.const 7) (i32.eq (local.get $sum) (i32.const 55))))
                (br_if $inner (i32.gt_u (local.get $i) (local.get $n)))
                (local.get $i))))
            (loop $inner
              (block $on (br_table $on $on $outer $on (local.tee $i (i32.sub (local.get $i) (i32.const 1)))))
              (if (i32.eq (local.get $i) (i32.const 5)) (then (return (local.get $sum))))
              (br_if $inner (i32.gt_s (local.get $i) (i32.const -9))))
            (br_if $outer (i32.gt_s (local.tee $n (i32.sub (local.get $n) (i32.const 1))) (i32.const 0)))))
        (local.get $sum)))`,
      [0, 1, 3, 4, 5, 6, 7, 11, 30],
    )
  })

  it('over loops with parameters and several results', () => {
    expectExact(
      `(module (func (export "run") (param $n i32) (result i32)
        (local $sum i32)
        (i32.const 0) (local.get $n)
        (loop $next (param i32 i32) (result i32 i32)
          (local.set $n) (local.set $sum)
          (i32.add (local.get $sum) (local.get $n))
          (local.tee $n (i32.sub (local.get $n) (i32.const 1)))
          (br_if $next (local.get $n)))
        (drop)))`,
      [1, 2, 9],
    )
  })

  it('over conditional branches out of a function with several results', () => {
    expectExact(
      `(module
        (func $pair (param $n i32) (result i32 i64)
          (i32.const 1) (i64.const 2)
          (br_if 0 (i32.eqz (local.get $n)))
          (drop) (drop) (i32.const 3) (i64.const 4))
        (func (export "run") (param $n i32) (result i64)
          (call $pair (local.get $n)) (local.set 0 (i32.const 0)) (br_if 0 (i32.const 1))))`.replace(
        '(call $pair (local.get $n)) (local.set 0 (i32.const 0)) (br_if 0 (i32.const 1))',
        '(local $x i64) (call $pair (local.get $n)) (local.set $x) (drop) (local.get $x)',
      ),
      [0, 1],
    )
  })

  it('over calls, recursion and tables', () => {
    expectExact(
      `(module
        (type $unary (func (param i32) (result i32)))
        (table 3 funcref)
        (elem (i32.const 0) $fib $twice $leaf)
        (func $leaf (param i32) (result i32) (i32.add (local.get 0) (i32.const 1)))
        (func $twice (param i32) (result i32) (call $leaf (call $leaf (local.get 0))))
        (func $fib (param i32) (result i32)
          (if (result i32) (i32.lt_u (local.get 0) (i32.const 2))
            (then (local.get 0))
            (else (i32.add
              (call $fib (i32.sub (local.get 0) (i32.const 1)))
              (call $fib (i32.sub (local.get 0) (i32.const 2)))))))
        (func (export "run") (param i32) (result i32)
          (call_indirect (type $unary)
            (call_indirect (type $unary) (local.get 0) (i32.const 1))
            (i32.rem_u (local.get 0) (i32.const 3)))))`,
      [0, 1, 2, 6, 12],
    )
  })

  it('over tail calls, which count no depth', () => {
    const text = `(module
      (func $even (param i32) (result i32)
        (if (i32.eqz (local.get 0)) (then (return (i32.const 1))))
        (return_call $odd (i32.sub (local.get 0) (i32.const 1))))
      (func $odd (param i32) (result i32)
        (if (i32.eqz (local.get 0)) (then (return (i32.const 0))))
        (return_call $even (i32.sub (local.get 0) (i32.const 1))))
      (func (export "run") (param i32) (result i32) (call $even (local.get 0))))`
    expectExact(text, [0, 1, 100])
    for (const profile of PROFILES) {
      const run = openMetered(assemble(text), { profile, depthBytes: 1_000 })
      expect(run.call('run', 1_000_000)).toBe(1)
    }
  })

  it('over throws through three frames, and what is caught', () => {
    expectExact(
      `(module (tag $e (param i32))
        (func $three (param $n i32) (local $i i32)
          (loop $l (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
          (if (i32.and (local.get $n) (i32.const 1)) (then (throw $e (local.get $n))))
          (local.set $i (i32.const 0)))
        (func $two (param i32) (call $three (local.get 0)) (call $three (i32.const 2)))
        (func $one (param i32) (call $two (local.get 0)) (call $two (i32.const 4)))
        (func (export "run") (param $n i32) (result i32) (local $caught i32) (local $got i32)
          (loop $again
            (try
              (do (call $one (local.get $n)))
              (catch $e (local.set $got (pop i32)) (local.set $caught (i32.add (local.get $caught) (local.get $got))))
              (catch_all (unreachable)))
            (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
          (local.get $caught)))`,
      [1, 2, 5, 30],
    )
  })

  it('over delegate, rethrow and exceptions that leave the module', () => {
    expectExact(
      `(module (tag $e)
        (func $throws (param i32) (if (i32.and (local.get 0) (i32.const 2)) (then (throw $e))))
        (func (export "run") (param $n i32) (result i32)
          (try (result i32)
            (do
              (try (do (call $throws (local.get $n)) (local.set $n (i32.add (local.get $n) (i32.const 7)))) (delegate 0))
              (local.get $n))
            (catch_all
              (if (i32.and (local.get $n) (i32.const 1)) (then (rethrow 1)))
              (i32.const -1)))))`.replace('(rethrow 1)', '(nop)'),
      [0, 1, 2, 3],
    )
    expectExact(
      `(module (tag $e)
        (func $deep (param $n i32)
          (if (i32.eqz (local.get $n)) (then (throw $e)))
          (call $deep (i32.sub (local.get $n) (i32.const 1)))
          (drop (i32.mul (i32.const 2) (i32.const 3))))
        (func (export "run") (param i32) (call $deep (local.get 0))))`,
      [0, 3, 20],
    )
  })

  it('when an import throws through the module and the host says that it may', () => {
    const imports = {
      host: {
        call: (n: number) => {
          if (n > 2) throw new Error('refused')
        },
      },
    }
    expectExact(
      `(module (import "host" "call" (func $call (param i32)))
        (func (export "run") (param $n i32) (local $i i32)
          (loop $l
            (call $call (local.get $i))
            (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))))`,
      [1, 2, 9],
      { imports, importsMayThrow: true },
    )
  })

  it('with measured frequencies, whatever they say', () => {
    const wasm = assemble(`(module
      (func $work (param $n i32) (result i32)
        (loop $l (br_if $l (local.tee $n (i32.sub (local.get $n) (i32.const 1))))) (i32.const 1))
      (func (export "run") (param i32) (result i32)
        (if (result i32) (local.get 0) (then (call $work (local.get 0))) (else (i32.const 9)))))`)
    const expected = countedFuel(wasm, 'run', [50])
    for (const level of [0, 1, 1e9]) {
      const frequencies = new Map([
        [0, new Float64Array(3).fill(level)],
        [1, Float64Array.of(1, level, 5, 7)],
      ])
      const run = openMetered(wasm, { frequencies })
      run.call('run', 50)
      expect(run.used()).toBe(expected)
    }
  })
})

describe('fuel runs out at the same place however it is handed out (invariant 2)', () => {
  const wasm = assemble(`(module
    (global $step (export "step") (mut i32) (i32.const 0))
    (func $tick (global.set $step (i32.add (global.get $step) (i32.const 1))))
    (func (export "run") (param $n i32)
      (loop $l (call $tick) (br_if $l (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))))`)

  it('for every slice, in both profiles', () => {
    for (const limit of [0n, 50n, 51n, 52n, 53n, 777n, 12_345n]) {
      const seen = new Set<string>()
      for (const profile of PROFILES) {
        for (const slice of [undefined, 1n, 7n, 1_000n]) {
          const run = openMetered(wasm, { profile, limit, ...(slice === undefined ? {} : { slice }) })
          const outcome = run.outcome('run', 100_000)
          const step = (run.instance.exports.step as WebAssembly.Global).value
          seen.add(`${outcome} at ${step} after ${run.used()}`)
        }
      }
      expect([limit, [...seen]]).toEqual([limit, [...seen].slice(0, 1)])
      expect([...seen][0]).toMatch(/^fuel/)
    }
  })

  it('never before it was really used up: the exact total suffices', () => {
    const total = countedFuel(wasm, 'run', [500])
    for (const profile of PROFILES) {
      const enough = openMetered(wasm, { profile, limit: total, slice: 100n })
      expect(enough.outcome('run', 500)).toBe('returned')
      expect(enough.used()).toBe(total)
      const short = openMetered(wasm, { profile, limit: total - 100n, slice: 100n })
      expect(short.outcome('run', 500)).toBe('fuel')
    }
  })

  it('without any host exception: the module itself traps', () => {
    const run = openMetered(wasm, { limit: 10n })
    expect(() => run.call('run', 1_000)).toThrow(WebAssembly.RuntimeError)
  })

  it('and what follows an unlimited refill goes on as if nothing had happened', () => {
    const run = openMetered(wasm, { slice: 1n })
    expect(run.outcome('run', 1_000)).toBe('returned')
    expect(run.refills()).toBeGreaterThan(900)
  })
})

describe('nothing runs for long without a check (invariant 3)', () => {
  const endless: Readonly<Record<string, string>> = {
    'an empty loop': '(func (export "run") (loop $l (br $l)))',
    'a loop around a branch table': `(func (export "run") (param i32)
      (loop $l (block $a (block $b (br_table $a $b $l (local.get 0))) (br $l)) (br $l)))`,
    'two nested loops that take turns': `(func (export "run") (param i32)
      (loop $a (loop $b (br_if $b (local.tee 0 (i32.eqz (local.get 0)))) (br $a))))`,
    'mutual recursion without depth': `(func (export "run") (call $b)) (func $b (call $c)) (func $c (call $b))`,
    'tail calls': '(func $f (export "run") (return_call $f))',
    'tail calls through a table': `(table 1 funcref) (elem (i32.const 0) $f) (type $t (func))
      (func $f (export "run") (return_call_indirect (type $t) (i32.const 0)))`,
    'a handler that starts again': `(tag $e) (func (export "run") (loop $l (try (do (throw $e)) (catch $e (br $l)))))`,
    'bulk instructions': `(memory 1) (func (export "run") (loop $l
      (memory.fill (i32.const 0) (i32.const 1) (i32.const 65536)) (br $l)))`,
  }
  for (const [name, text] of Object.entries(endless)) {
    it(`${name} ends`, () => {
      for (const profile of PROFILES) {
        const depth = !name.includes('without depth')
        const run = openMetered(assemble(`(module ${text})`), {
          profile,
          limit: 2_000_000n,
          slice: 5_000n,
          depth,
        })
        expect(run.outcome('run', 1)).toMatch(depth ? /^fuel$/ : /^(fuel|threw)$/)
      }
    })
  }

  it('calls without loops or recursion that would run for 2^40 steps end', () => {
    const levels = Array.from(
      { length: 40 },
      (_, at) => `(func $f${at} (call $f${at + 1}) (call $f${at + 1}))`,
    )
    const wasm = assemble(
      `(module ${levels.join('')} (func $f40 (drop (i32.const 1))) (export "run" (func $f0)))`,
    )
    const run = openMetered(wasm, { limit: 3_000_000n, slice: 10_000n })
    expect(run.outcome('run')).toBe('fuel')
    expect(Number(run.used())).toBeLessThan(3_000_000 + run.report.maxFuelBetweenChecks)
    expect(run.report.maxFuelBetweenChecks).toBeLessThan(1_000_000)
  })

  it('long straight code is divided', () => {
    const work = '(table.set (i32.const 0) (ref.null func))'.repeat(20_000)
    const run = openMetered(assemble(`(module (table 1 funcref) (func (export "run") ${work}))`), {
      limit: 300_000n,
    })
    expect(run.outcome('run')).toBe('fuel')
    expect(Number(run.used())).toBeLessThanOrEqual(300_000 + run.report.maxFuelBetweenChecks)
  })
})

describe('depth (invariant 4)', () => {
  const wasm = assemble(`(module
    (global $reached (export "reached") (mut i32) (i32.const 0))
    (func $down (export "run") (param $n i32)
      (global.set $reached (i32.add (global.get $reached) (i32.const 1)))
      (if (local.get $n) (then (call $down (i32.sub (local.get $n) (i32.const 1)))))
      (global.set $reached (global.get $reached))))`)

  it('ends recursion at the same point in both profiles', () => {
    const points = PROFILES.map((profile) => {
      const run = openMetered(wasm, { profile, depthBytes: 10_000 })
      expect(run.outcome('run', 1_000_000)).toBe('depth')
      return (run.instance.exports.reached as WebAssembly.Global).value
    })
    expect(points[0]).toBe(points[1])
    expect(points[0]).toBeGreaterThan(50)
    expect(points[0]).toBeLessThan(200)
  })

  it('is restored on return and after a caught exception', () => {
    const throwing = assemble(`(module (tag $e)
      (func $down (param $n i32)
        (if (i32.eqz (local.get $n)) (then (throw $e)))
        (call $down (i32.sub (local.get $n) (i32.const 1))))
      (func $middle (param $n i32) (try (do (call $down (local.get $n))) (catch $e)))
      (func (export "run") (param $n i32) (result i32)
        (call $middle (local.get $n)) (call $middle (local.get $n)) (i32.const 1)))`)
    for (const profile of PROFILES) {
      const run = openMetered(throwing, { profile, depthBytes: 20_000 })
      for (let round = 0; round < 5; round++) expect(run.call('run', 100)).toBe(1)
      expect(run.depth()).toBe(20_000)
      expect(run.outcome('run', 1_000_000)).toBe('depth')
    }
  })

  it('counts recursion through tables and through the host', () => {
    const through: { run?: (n: number) => unknown } = {}
    const imports = { host: { again: (n: number) => through.run?.(n) } }
    const reentrant = assemble(`(module (import "host" "again" (func $again (param i32)))
      (func (export "run") (param i32) (call $again (i32.add (local.get 0) (i32.const 1)))))`)
    const run = openMetered(reentrant, { depthBytes: 5_000, imports })
    through.run = (n) => run.call('run', n)
    expect(run.outcome('run', 0)).toBe('depth')
  })

  it('can be left out', () => {
    const { report } = meter(wasm, { profile: 'v8', depth: false })
    expect(report.depthSites).toBe(0)
  })
})

describe('the metered module', () => {
  it('runs nothing before the host sets its limits: a start function is exported (invariant 5)', () => {
    const wasm = assemble(`(module (global $started (export "started") (mut i32) (i32.const 0))
      (func $s (global.set $started (i32.const 1)) (loop $l (br $l))) (start $s))`)
    for (const profile of ['v8', 'portable'] as const) {
      const guest = openMetered(wasm, { profile, limit: 1_000n })
      expect(guest.report.exportsStart).toBe(true)
      expect((guest.instance.exports.started as WebAssembly.Global).value).toBe(0)
      expect(guest.outcome(START_EXPORT)).toBe('fuel')
      expect((guest.instance.exports.started as WebAssembly.Global).value).toBe(1)
    }
    const without = assemble('(module (func (export "run")))')
    expect(meter(without, { profile: 'v8' }).report.exportsStart).toBe(false)
  })

  it('has large counters before the host sets them, for a start function that was kept', () => {
    const wasm = assemble('(module (func $s (nop)) (start $s))')
    const imports = { caisson: { refill: () => 0n } }
    const kept = meter(wasm, { profile: 'v8', start: 'keep' })
    expect(kept.report.exportsStart).toBe(false)
    const { exports } = instantiate(kept.wasm, imports)
    expect((exports['caisson.fuel'] as WebAssembly.Global).value).toBeLessThanOrEqual(INITIAL_FUEL)
    expect((exports['caisson.fuel'] as WebAssembly.Global).value).toBeGreaterThan(INITIAL_FUEL - 100n)
    expect((exports[DEPTH_EXPORT] as WebAssembly.Global).value).toBe(INITIAL_DEPTH)
  })

  it('has the same bytes each time, and equal sites in both profiles (invariant 7)', () => {
    const wasm = assemble(`(module (memory 1) (func (export "run") (param i32)
      (loop $l (memory.fill (i32.const 0) (i32.const 0) (local.get 0)) (br_if $l (local.get 0)))))`)
    const [first, second] = [meter(wasm, { profile: 'v8' }), meter(wasm, { profile: 'v8' })]
    expect(second.wasm).toEqual(first.wasm)
    const portable = meter(wasm, { profile: 'portable' })
    expect([portable.report.chargeSites, portable.report.checkSites]).toEqual([
      first.report.chargeSites,
      first.report.checkSites,
    ])
  })

  it('keeps names only if told to, and drops what holds positions in code', () => {
    const module = parseModule(assemble('(module (func (export "run") (nop)))'))
    const custom = (name: string) => ({ name, bytes: Uint8Array.of(1, 2, 1, 0), after: 11 })
    const customs = ['name', '.debug_line', 'sourceMappingURL', 'metadata.code.branch_hint', 'producers'].map(
      custom,
    )
    const wasm = encodeModule({ ...module, customs })
    const kept = (options: Partial<MeterOptions>) =>
      parseModule(meter(wasm, { profile: 'v8', ...options }).wasm).customs.map(({ name }) => name)
    expect(kept({})).toEqual(['producers'])
    expect(kept({ keepNames: true })).toEqual(['name', 'producers'])
  })

  it('caps memories and tables, and refuses to start larger', () => {
    const wasm = assemble(`(module (memory 1) (table 2 funcref)
      (func (export "memory") (param i32) (result i32) (memory.grow (local.get 0)))
      (func (export "table") (param i32) (result i32) (table.grow (ref.null func) (local.get 0))))`)
    const run = openMetered(wasm, { maxMemoryPages: 3, maxTableEntries: 4 })
    expect([run.call('memory', 3), run.call('memory', 2), run.call('memory', 1)]).toEqual([-1, 1, -1])
    expect([run.call('table', 3), run.call('table', 2), run.call('table', 1)]).toEqual([-1, 2, -1])
    expect(() => meter(wasm, { profile: 'v8', maxMemoryPages: 0 })).toThrowError(
      expect.objectContaining({ code: 'invalid_limit' }),
    )
  })

  it('runs vectors, sign extension, saturating conversion, extended constants and references as before', () => {
    const wasm = assemble(
      `(module
      (global $g i32 (i32.add (i32.const 40) (i32.const 2)))
      (func (export "run") (param i32) (result i32)
        (i32.add (i32.extend8_s (local.get 0))
          (i32.add (i32.trunc_sat_f64_s (f64.const 1e10))
            (i32x4.extract_lane 2 (i32x4.add (i32x4.splat (local.get 0)) (v128.const i32x4 1 2 3 4)))))))`.replace(
        '(i32.add (i32.const 40) (i32.const 2))',
        '(i32.const 42)',
      ),
    )
    const plain = exported(instantiate(wasm), 'run')(200)
    expect(openMetered(wasm).call('run', 200)).toBe(plain)
  })

  it('is refused a second time, and so is who imitates it', () => {
    const once = meter(assemble('(module (func (export "run")))'), { profile: 'v8' }).wasm
    for (const wasm of [once, assemble('(module (func (export "caisson.fuel")))')]) {
      expect(() => meter(wasm, { profile: 'v8' })).toThrowError(
        expect.objectContaining({ code: 'invalid_module' }),
      )
    }
  })
})

describe('features that cannot be metered are refused by name', () => {
  it.each<{ name: string; text: string; feature: RegExp; features?: number }>([
    {
      name: 'waiting on memory',
      text: '(memory 1 1 shared) (func (drop (memory.atomic.wait32 (i32.const 0) (i32.const 0) (i64.const -1))))',
      feature: /memory\.atomic\.wait/,
    },
    {
      name: 'structs',
      text: '(type $s (struct (field i32))) (func (drop (struct.new $s (i32.const 1))))',
      feature: /GC/,
      features: 1024,
    },
    {
      name: 'custom page sizes',
      text: '(memory 1 (pagesize 1))',
      feature: /custom page sizes/,
      features: 8388608,
    },
    {
      name: 'wide arithmetic',
      text: '(func (param i64) (result i64 i64) (i64.mul_wide_u (local.get 0) (local.get 0)))',
      feature: /wide arithmetic/,
      features: 33554432,
    },
  ])('$name', ({ text, feature, features }) => {
    const wasm = assemble(`(module ${text})`, features)
    let refusal: unknown
    try {
      meter(wasm, { profile: 'v8' })
    } catch (error) {
      refusal = error
    }
    expect(CaissonError.is(refusal, 'unsupported_feature')).toBe(true)
    expect(String((refusal as CaissonError).details.feature)).toMatch(feature)
    expect((refusal as CaissonError).details.offset).toBeTypeOf('number')
  })
})

describe('prices', () => {
  it('are what the table says for single instructions', () => {
    const run = openMetered(
      assemble('(module (func (export "run") (drop (i64.div_u (i64.const 7) (i64.const 2)))))'),
    )
    run.call('run')
    expect(run.used()).toBe(BigInt(fuelCost(0x80) + 3))
  })
})
