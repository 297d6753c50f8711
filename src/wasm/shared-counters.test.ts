/** Several modules of one guest that count on the same two globals. */
import { describe, expect, it } from 'vitest'
import { assemble, exported, instantiate } from './assemble.testkit.ts'
import { meter, meterSteps } from './meter.ts'
import { DEPTH_EXPORT, FUEL_EXPORT, REFILL_GROWTH } from './meter-options.ts'
import { openMetered } from './metered.testkit.ts'

const LIBRARY = assemble(`(module
  (import "host" "base" (global $base i32))
  (global $calls (mut i32) (i32.const 0))
  (global $offset i32 (i32.const 3))
  (table 8 funcref)
  (elem (global.get $base) $sum)
  (export "calls" (global $calls))
  (func $sum (export "sum") (param $n i32) (result i32) (local $s i32)
    (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
    (loop $l
      (local.set $s (i32.add (local.get $s) (i32.add (local.get $n) (global.get $offset))))
      (br_if $l (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $s)))`)

const PROGRAM = assemble(`(module
  (import "library" "sum" (func $sum (param i32) (result i32)))
  (func (export "run") (param $n i32) (result i32) (local $s i32)
    (loop $l
      (local.set $s (i32.add (local.get $s) (call $sum (i32.const 50))))
      (br_if $l (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $s))
  (func $deep (export "deep") (param $n i32) (result i32)
    (if (result i32) (local.get $n)
      (then (i32.add (call $sum (i32.const 1)) (call $deep (i32.sub (local.get $n) (i32.const 1)))))
      (else (i32.const 0)))))`)

function link(profile: 'v8' | 'portable') {
  const fuel = new WebAssembly.Global({ value: 'i64', mutable: true }, 10n ** 12n)
  const depth = new WebAssembly.Global({ value: 'i32', mutable: true }, 100_000)
  const kinds: number[] = []
  const caisson = {
    fuel,
    depth,
    refill: (kind: number): bigint => {
      kinds.push(kind)
      return -1n
    },
  }
  const base = new WebAssembly.Global({ value: 'i32' }, 2)
  const library = instantiate(meter(LIBRARY, { profile, counters: 'shared' }).wasm, {
    caisson,
    host: { base },
  })
  const sum = library.exports.sum as WebAssembly.ExportValue
  const program = instantiate(meter(PROGRAM, { profile, counters: 'shared' }).wasm, {
    caisson,
    library: { sum },
  })
  return { fuel, depth, kinds, library, program }
}

describe.each(['v8', 'portable'] as const)('shared counters, profile %s', (profile) => {
  it('counts over all modules what each of them counts for itself', () => {
    const { fuel, library, program } = link(profile)
    expect(exported(program, 'run')(7)).toBe(7 * (1_275 + 150))
    expect((library.exports.calls as WebAssembly.Global).value).toBe(7)
    expect(library.exports[FUEL_EXPORT]).toBe(fuel)
    const base = new WebAssembly.Global({ value: 'i32' }, 2)
    const alone = openMetered(LIBRARY, { profile, imports: { host: { base } } })
    for (let i = 0; i < 7; i++) alone.call('sum', 50)
    const caller = openMetered(PROGRAM, { profile, imports: { library: { sum: () => 0 } } })
    caller.call('run', 7)
    expect(10n ** 12n - (fuel.value as bigint)).toBe(alone.used() + caller.used())
  })

  it('counts one depth, and gives it back', () => {
    const { depth, kinds, program } = link(profile)
    exported(program, 'deep')(20)
    expect(depth.value).toBe(100_000)
    expect(() => exported(program, 'deep')(1_000_000)).toThrow(WebAssembly.RuntimeError)
    expect(kinds).toEqual([1])
  })
})

describe('meterSteps', () => {
  it('gives the bytes of meter, and tells how far it is', () => {
    const steps = meterSteps(PROGRAM, { profile: 'v8' })
    const shares: number[] = []
    let step = steps.next()
    for (; step.done !== true; step = steps.next()) shares.push(step.value)
    expect(step.value).toEqual(meter(PROGRAM, { profile: 'v8' }))
    expect(shares).toEqual([...shares].sort((a, b) => a - b))
    expect(shares).toHaveLength(4)
    expect(shares.at(-1)).toBe(1)
  })
})

describe('reportsGrowth', () => {
  const GROWING = assemble(`(module (memory 1 3) (table $t 1 2 funcref)
    (func (export "memory") (param i32) (result i32) (memory.grow (local.get 0)))
    (func (export "table") (param i32) (result i32) (table.grow $t (ref.null func) (local.get 0))))`)

  it('tells the host of growth that failed, and of no other', () => {
    const kinds: number[] = []
    const { wasm } = meter(GROWING, { profile: 'v8', reportsGrowth: true, maxMemoryPages: 2 })
    const instance = instantiate(wasm, {
      caisson: {
        refill: (kind: number) => {
          kinds.push(kind)
          return 2n ** 40n
        },
      },
    })
    expect(exported(instance, 'memory')(1)).toBe(1)
    expect(exported(instance, 'table')(1)).toBe(1)
    expect(kinds).toEqual([])
    expect(exported(instance, 'memory')(1)).toBe(-1)
    expect(exported(instance, 'table')(70_000)).toBe(-1)
    expect(kinds).toEqual([REFILL_GROWTH, REFILL_GROWTH])
    expect((instance.exports[DEPTH_EXPORT] as WebAssembly.Global).value).toBeGreaterThan(0)
  })
})
