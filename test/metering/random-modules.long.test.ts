import { describe, expect, it } from 'vitest'
import { type CorpusPart, checkFuzzed, checkGenerated } from './check-random-modules.ts'
import { OP } from './oracle/instruction.ts'

/** 2,000 modules in all; the short test takes seeds below 1,000. */
const FIRST_SEED = 1_000
const SLICES = {
  v8: [undefined, 1_000n, 12_345n, 1_000_000n],
  portable: [undefined, 1_000n, 54_321n],
} as const

const next = (count: number): CorpusPart => ({ firstSeed: FIRST_SEED, count, slices: SLICES })

const AN_HOUR = 3_600_000

describe('2,000 random modules behave the same metered, and their fuel is what the interpreter counts', () => {
  it('250 with scalars, branches, calls, tables, bulk memory', { timeout: AN_HOUR }, () => {
    const floors = {
      medianFuel: 10_000,
      shareOver1000: 0.9,
      opcodes: 180,
      shareReturned: 0.8,
      shareStopped: 0.4,
    }
    checkGenerated('none', false, next(250)).expectSound(floors)
  })

  it('250 with vectors', { timeout: AN_HOUR }, () => {
    const floors = {
      medianFuel: 10_000,
      shareOver1000: 0.9,
      opcodes: 400,
      shareReturned: 0.8,
      shareStopped: 0.4,
    }
    checkGenerated('none', true, next(250)).expectSound(floors)
  })

  it('300 with legacy exceptions', { timeout: AN_HOUR }, () => {
    const findings = checkGenerated('legacy', true, next(300))
    findings.expectSound({
      medianFuel: 10_000,
      shareOver1000: 0.85,
      opcodes: 400,
      shareReturned: 0.5,
      shareStopped: 0.4,
    })
    expect([...findings.opcodes]).toEqual(expect.arrayContaining([OP.try, OP.throw, OP.rethrow]))
  })

  it('200 with exception references, in the interpreter', { timeout: AN_HOUR }, () => {
    const findings = checkGenerated('exnref', true, next(200))
    findings.expectSound({
      medianFuel: 10_000,
      shareOver1000: 0.85,
      opcodes: 380,
      shareReturned: 0.5,
      shareStopped: 0.4,
    })
    expect([...findings.opcodes]).toEqual(expect.arrayContaining([OP.try_table, OP.throw, OP.throw_ref]))
  })

  it('800 from binaryen fuzzing', { timeout: AN_HOUR }, async () => {
    const findings = await checkFuzzed('engine', next(800))
    findings.expectSound({
      medianFuel: 2_000,
      shareOver1000: 0.6,
      opcodes: 250,
      shareReturned: 0.4,
      shareStopped: 0.1,
    })
    expect([...findings.opcodes]).toEqual(expect.arrayContaining([OP.return_call, OP.return_call_indirect]))
  })

  it('200 from binaryen fuzzing with both kinds of exceptions, in the interpreter', {
    timeout: AN_HOUR,
  }, async () => {
    const findings = await checkFuzzed('exceptions', next(200))
    findings.expectSound({
      medianFuel: 2_000,
      shareOver1000: 0.6,
      opcodes: 200,
      shareReturned: 0.4,
      shareStopped: 0.1,
    })
    expect([...findings.opcodes]).toEqual(expect.arrayContaining([OP.try, OP.try_table, OP.throw]))
  })
})
