import { describe, expect, it } from 'vitest'
import { type CorpusPart, checkFuzzed, checkGenerated } from './check-random-modules.ts'
import { OP } from './oracle/instruction.ts'

/** Runs in every `npm test`; `random-modules.long.test.ts` does the same with 2,000 modules and more slices. */
const SLICES = { v8: [undefined, 997n], portable: [12_345n] } as const

const first = (count: number): CorpusPart => ({ firstSeed: 0, count, slices: SLICES })

/** Generous: the work takes a few seconds on an idle machine. */
const TIMEOUT_MS = 120_000

describe('random modules behave the same metered, and their fuel is what the interpreter counts', {
  timeout: TIMEOUT_MS,
}, () => {
  it('scalars, branches, calls, tables, bulk memory', () => {
    const floors = {
      medianFuel: 5_000,
      shareOver1000: 0.85,
      opcodes: 170,
      shareReturned: 0.8,
      shareStopped: 0.4,
    }
    checkGenerated('none', false, first(30)).expectSound(floors)
  })

  it('vectors', () => {
    const floors = {
      medianFuel: 5_000,
      shareOver1000: 0.85,
      opcodes: 310,
      shareReturned: 0.8,
      shareStopped: 0.4,
    }
    checkGenerated('none', true, first(25)).expectSound(floors)
  })

  it('legacy exceptions', () => {
    const findings = checkGenerated('legacy', false, first(40))
    findings.expectSound({
      medianFuel: 5_000,
      shareOver1000: 0.8,
      opcodes: 170,
      shareReturned: 0.5,
      shareStopped: 0.4,
    })
    expect([...findings.opcodes]).toEqual(expect.arrayContaining([OP.try, OP.throw, OP.rethrow]))
  })

  it('exception references, in the interpreter where the engine has none', () => {
    const findings = checkGenerated('exnref', false, first(12))
    findings.expectSound({
      medianFuel: 5_000,
      shareOver1000: 0.8,
      opcodes: 150,
      shareReturned: 0.5,
      shareStopped: 0.4,
    })
    expect([...findings.opcodes]).toEqual(expect.arrayContaining([OP.try_table, OP.throw]))
  })

  it('modules of another generator: binaryen fuzzing', async () => {
    const findings = await checkFuzzed('engine', first(15))
    findings.expectSound({
      medianFuel: 1_000,
      shareOver1000: 0.6,
      opcodes: 90,
      shareReturned: 0.4,
      shareStopped: 0.1,
    })
  })
})
