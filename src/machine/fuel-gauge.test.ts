import { describe, expect, it } from 'vitest'
import { REFILL_FUEL } from '../wasm/meter-options.ts'
import { FuelGauge } from './fuel-gauge.ts'

/** A guest that uses up slice after slice, each in so many milliseconds. */
function open(limit: number, slice?: number): { gauge: FuelGauge; slices: (tookMs: number[]) => number[] } {
  let now = 0
  const fuel = new WebAssembly.Global({ value: 'i64', mutable: true }, 0n)
  const depth = new WebAssembly.Global({ value: 'i32', mutable: true }, 0)
  const gauge = new FuelGauge({ fuel, depth }, () => now, slice)
  gauge.reset(limit)
  gauge.begin(1_000, 1_000, undefined)
  return {
    gauge,
    slices: (tookMs) =>
      tookMs.map((took) => {
        now += took
        fuel.value = -1n
        return Number(gauge.refill(REFILL_FUEL))
      }),
  }
}

describe('slices of fuel', () => {
  it('grow while a guest is fast, up to a bound, and are small again once it is slow', () => {
    const { slices } = open(1e12)
    expect(slices([0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.5, 2, 0.1])).toEqual([
      500_000, 1e6, 2e6, 4e6, 8e6, 8e6, 8e6, 500_000, 1e6,
    ])
  })

  it('begin small in every turn', () => {
    const { gauge, slices } = open(1e12)
    slices([0, 0, 0, 0])
    gauge.end()
    gauge.begin(1_000, 1_000, undefined)
    expect(slices([0])).toEqual([500_000])
  })

  it('stay as they are where their size is given, and add up exactly to the limit (invariants 1, 2)', () => {
    const { gauge, slices } = open(350, 100)
    expect(slices([0, 0, 0, 0, 0])).toEqual([100, 100, 47, -1, -1])
    expect(gauge.stopReason).toBe('fuel')
    expect(gauge.consumed).toBe(351)
  })

  it('end at the deadline however large they have become', () => {
    const { gauge, slices } = open(1e12)
    expect(slices([0, 0, 0, 2_000])).toEqual([500_000, 1e6, 2e6, -1])
    expect(gauge.stopReason).toBe('wall')
  })
})
