import { describe, expect, it } from 'vitest'
import { assemble, exported, instantiate } from './assemble.testkit.ts'
import { BULK_PRICES, fuelCost } from './cost.ts'
import { countedFuel, openMetered, type RunOptions } from './metered.testkit.ts'

const MIB = 1 << 20
const PROFILES = ['v8', 'portable'] as const

/** Operations on the first megabytes of a memory, and what they leave there. */
const MEMORY = assemble(`(module (memory (export "memory") 64)
  (data $d "0123456789")
  (func (export "fill") (param i32 i32 i32) (memory.fill (local.get 0) (local.get 1) (local.get 2)))
  (func (export "copy") (param i32 i32 i32) (memory.copy (local.get 0) (local.get 1) (local.get 2)))
  (func (export "init") (param i32 i32 i32) (memory.init $d (local.get 0) (local.get 1) (local.get 2)))
  (func (export "drop") (data.drop $d))
  (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0))))`)

function memoryOf(instance: WebAssembly.Instance): Uint8Array {
  return new Uint8Array((instance.exports.memory as WebAssembly.Memory).buffer)
}

/** Runs calls plain and metered, and expects equal memories and equal ends. */
function expectSame(calls: readonly (readonly [name: string, ...args: number[]])[]): void {
  for (const profile of PROFILES) {
    const plain = instantiate(MEMORY)
    const metered = openMetered(MEMORY, { profile, slice: 1_000_000n })
    for (const instance of [plain, metered.instance]) {
      memoryOf(instance).set(Uint8Array.from({ length: 4096 }, (_, at) => at * 7))
    }
    for (const [name, ...args] of calls) {
      const ends = [plain, metered.instance].map((instance) => {
        try {
          return String(exported(instance, name)(...args))
        } catch (thrown) {
          return String(thrown)
        }
      })
      expect(ends[1]).toBe(ends[0])
    }
    expect(Buffer.compare(memoryOf(metered.instance), memoryOf(plain))).toBe(0)
  }
}

describe('bulk instructions, piece by piece', () => {
  it('leave what they would leave at once', () => {
    expectSame([
      ['fill', 100, 0xab, 3 * MIB + 5],
      ['copy', 3 * MIB, 50, 200_000],
      ['init', 17, 2, 5],
    ])
  })

  it('copy overlapping ranges in the right direction (invariant 3)', () => {
    for (const distance of [1, 4_000, MIB - 1, MIB, MIB + 1]) {
      expectSame([
        ['fill', 0, 1, 100],
        ['copy', distance, 0, 2 * MIB + 100],
        ['copy', 0, distance, 2 * MIB + 100],
      ])
    }
  })

  it('write nothing when they are out of bounds (invariant 1)', () => {
    const end = 64 * 65_536
    expectSame([
      ['fill', end - 10, 1, 11],
      ['fill', end - 2 * MIB, 1, 2 * MIB + 1],
      ['fill', end, 1, 0],
      ['fill', end + 1, 1, 0],
      ['fill', -1, 1, -1],
      ['copy', end - 5, 0, 6],
      ['copy', 0, end - 2 * MIB, 2 * MIB + 1],
      ['copy', 1, -1, -1],
      ['init', 0, 5, 6],
      ['init', 0, 11, 0],
      ['init', 0, 10, 0],
    ])
  })

  it('know that a segment was dropped', () => {
    expectSame([['init', 0, 0, 3], ['drop'], ['init', 0, 0, 3], ['init', 0, 0, 0], ['init', 0, 1, 0]])
  })

  it('cost by size, and nothing by size when they trap', () => {
    const run = openMetered(MEMORY)
    const spent = (name: string, ...args: number[]): bigint => {
      const before = run.used()
      run.outcome(name, ...args)
      return run.used() - before
    }
    const base = (opcode: number) => BigInt(fuelCost(opcode) + 3)
    const { fuelPerUnit } = BULK_PRICES['memory.fill']
    expect(spent('fill', 0, 1, 1000)).toBe(base(0xfc00b) + BigInt(1000 * fuelPerUnit))
    expect(spent('fill', 0, 1, 3 * MIB)).toBe(base(0xfc00b) + BigInt(3 * MIB * fuelPerUnit))
    expect(spent('fill', 0, 1, 64 * 65_536 + 1)).toBeLessThan(200n)
    const page = BigInt(BULK_PRICES['memory.grow'].fuelPerUnit)
    expect(spent('grow', 2)).toBe(BigInt(fuelCost(0x40) + 1) + 2n * page)
    expect(spent('grow', 0)).toBe(BigInt(fuelCost(0x40) + 1))
    expect(spent('grow', 65_536)).toBe(BigInt(fuelCost(0x40) + 1))
  })

  it('stop between two pieces when the fuel is used up (invariant 2)', () => {
    for (const profile of PROFILES) {
      const run = openMetered(MEMORY, { profile, limit: BigInt(MIB + 500), slice: 10_000n })
      expect(run.outcome('fill', 0, 1, 4 * MIB)).toBe('fuel')
      const memory = memoryOf(run.instance)
      expect([memory[MIB - 1], memory[MIB]]).toEqual([1, 0])
    }
  })

  it('work on tables of every kind', () => {
    const wasm = assemble(`(module
      (table $t (export "t") 10000 20000 externref)
      (table $f 8 8 funcref)
      (elem $e func $a $b)
      (func $a (result i32) (i32.const 1)) (func $b (result i32) (i32.const 2))
      (func (export "fill") (param i32 externref i32) (table.fill $t (local.get 0) (local.get 1) (local.get 2)))
      (func (export "copy") (param i32 i32 i32) (table.copy $t $t (local.get 0) (local.get 1) (local.get 2)))
      (func (export "grow") (param externref i32) (result i32) (table.grow $t (local.get 0) (local.get 1)))
      (func (export "init") (param i32) (result i32)
        (table.init $f $e (local.get 0) (i32.const 0) (i32.const 2))
        (elem.drop $e)
        (call_indirect $f (result i32) (i32.add (local.get 0) (i32.const 1)))))`)
    const run = openMetered(wasm)
    const table = run.instance.exports.t as WebAssembly.Table
    run.call('fill', 0, 'a', 9_000)
    run.call('copy', 1_000, 0, 9_000)
    expect([table.get(0), table.get(9_999)]).toEqual(['a', 'a'])
    expect(run.call('grow', 'z', 5)).toBe(10_000)
    expect(table.get(10_004)).toBe('z')
    expect(run.call('grow', 'z', 10_000)).toBe(-1)
    expect(run.call('init', 3)).toBe(2)
    expect(run.outcome('init', 3)).toBe('trapped')
    expect(run.outcome('fill', 10_000, 'b', 10_000)).toBe('trapped')
    expect(table.get(10_000)).toBe('z')
  })

  it('count the same in both profiles and for every slice', () => {
    const text = `(module (memory 40) (func (export "run") (param $n i32) (local $i i32)
      (loop $l
        (memory.fill (local.get $i) (i32.const 1) (i32.mul (local.get $n) (i32.const 50000)))
        (memory.copy (i32.const 9) (local.get $i) (local.get $n))
        (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))))`
    const wasm = assemble(text)
    for (const n of [1, 3, 30]) {
      const bySize = BigInt(n * (n * 50_000 + n))
      const expected = countedFuel(wasm, 'run', [n]) + bySize
      for (const profile of PROFILES) {
        for (const slice of [undefined, 777n, 100_000n]) {
          const options: RunOptions = { profile, ...(slice === undefined ? {} : { slice }) }
          const run = openMetered(wasm, options)
          expect(run.outcome('run', n)).toBe('returned')
          expect(run.used()).toBe(expected)
        }
      }
    }
  })
})
