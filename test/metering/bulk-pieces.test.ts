/**
 * Bulk instructions that are done in pieces: same bytes, same entries, same traps, exact fuel.
 *
 * Sizes stand around the borders of pieces; copies overlap in both directions by less and by more than a piece.
 */
import { describe, expect, it } from 'vitest'
import { assemble } from '../../src/wasm/assemble.testkit.ts'
import { BULK_PRICES } from '../../src/wasm/cost.ts'
import { meter } from '../../src/wasm/meter.ts'
import { type Guest, openInterpretedGuest } from './harness/guest.ts'
import { MeteredRun } from './harness/metered-run.ts'
import { FuelCount } from './oracle/fuel-count.ts'

const MEMORY_PIECE = BULK_PRICES['memory.copy'].pieceUnits
const TABLE_PIECE = BULK_PRICES['table.copy'].pieceUnits
const MEMORY_BYTES = 64 * 65_536
const TABLE_ENTRIES = 3 * TABLE_PIECE + 100
const SEGMENT_BYTES = 1_000

/** Every eighth slot of the table holds one of two functions, so that a shifted copy shows. */
const MODULE = assemble(`(module
  (memory (export "memory") 64)
  (table $t (export "table") ${TABLE_ENTRIES} funcref)
  (data $bytes "${'0123456789'.repeat(SEGMENT_BYTES / 10)}")
  (elem $functions func ${'$zero $one $one '.repeat(30)})
  (func $zero (result i32) (i32.const 0))
  (func $one (result i32) (i32.const 1))
  (func (export "prepare memory") (local $i i32)
    (loop $l
      (i32.store (local.get $i) (i32.mul (local.get $i) (i32.const 0x9E3779B1)))
      (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 4))) (i32.const ${MEMORY_BYTES})))))
  (func (export "prepare table") (local $i i32)
    (loop $l
      (table.set $t (i32.mul (local.get $i) (i32.const 7)) (ref.func $one))
      (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1)))
        (i32.const ${Math.floor(TABLE_ENTRIES / 7)})))))
  (func (export "memory.fill") (param i32 i32 i32) (memory.fill (local.get 0) (local.get 1) (local.get 2)))
  (func (export "memory.copy") (param i32 i32 i32) (memory.copy (local.get 0) (local.get 1) (local.get 2)))
  (func (export "memory.init") (param i32 i32 i32) (memory.init $bytes (local.get 0) (local.get 1) (local.get 2)))
  (func (export "data.drop") (param i32 i32 i32) (data.drop $bytes))
  (func (export "table.fill") (param i32 i32 i32) (table.fill $t (local.get 0) (ref.func $zero) (local.get 2)))
  (func (export "table.copy") (param i32 i32 i32) (table.copy $t $t (local.get 0) (local.get 1) (local.get 2)))
  (func (export "table.init") (param i32 i32 i32)
    (table.init $t $functions (local.get 0) (local.get 1) (local.get 2)))
  (func (export "elem.drop") (param i32 i32 i32) (elem.drop $functions)))`)

/** An export, and its three operands: to, from or value, length. */
type Step = readonly [name: string, to: number, source: number, length: number]

function around(piece: number): number[] {
  return [0, 1, piece - 1, piece, piece + 1, 2 * piece + 5]
}

const MEMORY_STEPS: readonly Step[] = [
  ...around(MEMORY_PIECE).map((length): Step => ['memory.fill', 12_345, 0x1ff, length]),
  ...around(MEMORY_PIECE).flatMap((length): Step[] => [
    ['memory.copy', 500, 501, length],
    ['memory.copy', 501, 500, length],
    ['memory.copy', 7, MEMORY_PIECE + 20, length],
    ['memory.copy', MEMORY_PIECE + 20, 7, length],
    ['memory.copy', 9, 9, length],
  ]),
  ['memory.init', 100, 5, SEGMENT_BYTES - 5],
  ['memory.init', MEMORY_BYTES, SEGMENT_BYTES, 0],
]

const TABLE_STEPS: readonly Step[] = [
  ...around(TABLE_PIECE).flatMap((length): Step[] => [
    ['table.copy', 10, 11, length],
    ['table.copy', 11, 10, length],
    ['table.copy', 3, TABLE_PIECE - 9, length],
    ['table.copy', TABLE_PIECE - 9, 3, length],
  ]),
  ...around(TABLE_PIECE).map((length): Step => ['table.fill', 50, 0, length]),
  ['table.init', 4, 3, 80],
]

const MAX = 0xffff_ffff
/** Every one of these traps, and must leave everything as it was. */
const OUT_OF_BOUNDS: readonly Step[] = [
  ['memory.fill', MEMORY_BYTES - 10, 1, 11],
  ['memory.fill', MEMORY_BYTES + 1, 1, 0],
  ['memory.fill', 0, 1, MAX],
  ['memory.fill', MAX, 1, MAX],
  ['memory.copy', 0, MEMORY_BYTES - 10, 11],
  ['memory.copy', MEMORY_BYTES - 10, 0, 11],
  ['memory.copy', 0, MEMORY_BYTES + 1, 0],
  ['memory.copy', MEMORY_BYTES + 1, 0, 0],
  ['memory.copy', MAX, MAX, MAX],
  ['memory.copy', MEMORY_BYTES - MEMORY_PIECE - 1, 0, MEMORY_PIECE + 2],
  ['memory.copy', 0, MEMORY_BYTES - MEMORY_PIECE - 1, MEMORY_PIECE + 2],
  ['memory.init', 0, SEGMENT_BYTES, 1],
  ['memory.init', 0, SEGMENT_BYTES + 1, 0],
  ['memory.init', MEMORY_BYTES - 1, 0, 2],
  ['memory.init', MEMORY_BYTES + 1, 0, 0],
  ['table.fill', TABLE_ENTRIES - 1, 0, 2],
  ['table.fill', TABLE_ENTRIES + 1, 0, 0],
  ['table.copy', 0, TABLE_ENTRIES - 1, 2],
  ['table.copy', TABLE_ENTRIES - 1, 0, 2],
  ['table.copy', 0, TABLE_ENTRIES + 1, 0],
  ['table.copy', TABLE_ENTRIES - TABLE_PIECE, 0, TABLE_PIECE + 1],
  ['table.copy', 0, TABLE_ENTRIES - TABLE_PIECE, TABLE_PIECE + 1],
  ['table.init', 0, 90, 1],
  ['table.init', 0, 91, 0],
  ['table.init', TABLE_ENTRIES, 0, 1],
]

const DROPPED: readonly Step[] = [
  ['data.drop', 0, 0, 0],
  ['memory.init', 5, 0, 0],
  ['memory.init', 5, 0, 1],
  ['memory.init', 5, 1, 0],
  ['elem.drop', 0, 0, 0],
  ['table.init', 5, 0, 0],
  ['table.init', 5, 0, 1],
  ['table.init', 5, 1, 0],
]

function describeTable(guest: Guest): string {
  const names = new Map<unknown, string>([[null, '.']])
  const entries: string[] = []
  for (let i = 0; i < TABLE_ENTRIES; i++) {
    const entry = guest.readTable('table', i)
    if (!names.has(entry)) names.set(entry, String((entry as () => number)()))
    entries.push(names.get(entry) as string)
  }
  return entries.join('')
}

interface Outcome {
  readonly end: 'done' | 'trapped'
  readonly fuel: bigint
}

function perform(guest: Guest, [name, ...operands]: Step, spent: () => bigint): Outcome {
  const before = spent()
  const finish = (end: Outcome['end']): Outcome => ({ end, fuel: end === 'done' ? spent() - before : 0n })
  try {
    guest.invoke(name, operands)
    return finish('done')
  } catch (thrown) {
    expect((thrown as Error).message).toMatch(/out of bounds/)
    return finish('trapped')
  }
}

/** Runs the steps in the interpreter and metered, and compares after each. */
function compare(steps: readonly Step[]): Outcome[] {
  const count = new FuelCount()
  const oracle = openInterpretedGuest(MODULE, () => ({}), count)
  const oracleSpent = (): bigint => BigInt(count.fuel)
  const runs = (['v8', 'portable'] as const).map((profile) => {
    const run = new MeteredRun({ slice: 100_000n })
    const guest = run.open(meter(MODULE, { profile }).wasm as Uint8Array<ArrayBuffer>, () => ({}))
    return { profile, guest, spent: () => run.spent(guest) }
  })
  for (const { guest } of runs) {
    guest.invoke('prepare memory', [])
    guest.invoke('prepare table', [])
  }
  // A million stores take the interpreter too long; the table it prepares itself.
  oracle.memoryBytes('memory').set((runs[0] as (typeof runs)[number]).guest.memoryBytes('memory'))
  oracle.invoke('prepare table', [])

  return steps.map((step) => {
    const expected = perform(oracle, step, oracleSpent)
    const memory = oracle.memoryBytes('memory')
    const table = step[0].startsWith('table') ? describeTable(oracle) : undefined
    for (const { profile, guest, spent } of runs) {
      const label = `${profile} ${step.join(' ')}`
      expect(perform(guest, step, spent), label).toEqual(expected)
      expect(Buffer.compare(guest.memoryBytes('memory'), memory), label).toBe(0)
      if (table !== undefined) expect(describeTable(guest) === table, label).toBe(true)
    }
    return expected
  })
}

describe('bulk instructions in pieces', () => {
  it('move memory as one instruction would, for exact fuel', () => {
    const outcomes = compare(MEMORY_STEPS)
    expect(outcomes.every(({ end }) => end === 'done')).toBe(true)
  })

  it('move table entries as one instruction would, for exact fuel', () => {
    const outcomes = compare(TABLE_STEPS)
    expect(outcomes.every(({ end }) => end === 'done')).toBe(true)
  })

  it('trap when any end is out of bounds, and leave everything as it was', () => {
    const outcomes = compare(OUT_OF_BOUNDS)
    expect(outcomes.every(({ end }) => end === 'trapped')).toBe(true)
  })

  it('treat a dropped segment as an empty one', () => {
    const ends = compare(DROPPED).map(({ end }) => end)
    expect(ends).toEqual(['done', 'done', 'trapped', 'trapped', 'done', 'done', 'trapped', 'trapped'])
  })
})
