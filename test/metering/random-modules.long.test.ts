import { describe, expect, it } from 'vitest'
import { type FuzzFlavour, openFuzzCorpus } from './corpus/fuzz-corpus.ts'
import { createRandomFrequencies } from './corpus/random-frequencies.ts'
import { createRandomModule } from './corpus/random-module.ts'
import type { ExceptionFlavour } from './corpus/random-world.ts'
import { checkModule } from './harness/check-module.ts'
import { createFuzzImports, hostMayCatch } from './harness/fuzz-imports.ts'
import { createLogImports } from './harness/trace.ts'
import { OP } from './oracle/instruction.ts'
import { isReadable, readModule } from './oracle/module-reader.ts'
import { CorpusFindings } from './random-checks.ts'

/** 2,000 modules in all; the short test takes seeds below 1,000. */
const FIRST_SEED = 1_000
const SLICES = {
  v8: [undefined, 1_000n, 12_345n, 1_000_000n],
  portable: [undefined, 1_000n, 54_321n],
} as const

function checkGenerated(exceptions: ExceptionFlavour, vectors: boolean, count: number): CorpusFindings {
  const findings = new CorpusFindings()
  for (let seed = FIRST_SEED; seed < FIRST_SEED + count; seed++) {
    const wasm = createRandomModule(seed, { exceptions, vectors })
    const interpretedOnly = !WebAssembly.validate(wasm)
    expect(interpretedOnly && exceptions !== 'exnref', `seed ${seed} is no valid module`).toBe(false)
    const options = seed % 3 === 0 ? { frequencies: createRandomFrequencies(wasm, seed) } : {}
    const check = { createImports: createLogImports, seed, slices: SLICES, interpretedOnly, options }
    findings.add(`seed ${seed}`, checkModule(wasm, check))
  }
  return findings
}

async function checkFuzzed(flavour: FuzzFlavour, count: number): Promise<CorpusFindings> {
  using corpus = openFuzzCorpus(flavour)
  const findings = new CorpusFindings()
  const interpretedOnly = flavour === 'exceptions'
  let checked = 0
  for (let seed = FIRST_SEED; checked < count; seed++) {
    expect(seed - FIRST_SEED, 'modules that cannot be used').toBeLessThan(count * 1.1 + 10)
    const wasm = await corpus.module(seed)
    // Now and then binaryen writes an opcode of a feature that was not asked for.
    if (!isReadable(wasm) || (!interpretedOnly && !WebAssembly.validate(wasm))) continue
    checked += 1
    // Half of the modules let all host exceptions pass, so that fuel is exact across those too.
    const options = { importsMayThrow: seed % 2 === 0 || hostMayCatch(readModule(wasm)) }
    const check = { createImports: createFuzzImports, seed, slices: SLICES, interpretedOnly, options }
    findings.add(`seed ${seed}`, checkModule(wasm, check))
  }
  return findings
}

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
    checkGenerated('none', false, 250).expectSound(floors)
  })

  it('250 with vectors', { timeout: AN_HOUR }, () => {
    const floors = {
      medianFuel: 10_000,
      shareOver1000: 0.9,
      opcodes: 400,
      shareReturned: 0.8,
      shareStopped: 0.4,
    }
    checkGenerated('none', true, 250).expectSound(floors)
  })

  it('300 with legacy exceptions', { timeout: AN_HOUR }, () => {
    const findings = checkGenerated('legacy', true, 300)
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
    const findings = checkGenerated('exnref', true, 200)
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
    const findings = await checkFuzzed('engine', 800)
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
    const findings = await checkFuzzed('exceptions', 200)
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
