import { describe, expect, it } from 'vitest'
import { openFuzzCorpus } from './corpus/fuzz-corpus.ts'
import { createRandomFrequencies } from './corpus/random-frequencies.ts'
import { createRandomModule } from './corpus/random-module.ts'
import type { ExceptionFlavour } from './corpus/random-world.ts'
import { checkModule } from './harness/check-module.ts'
import { createFuzzImports, hostMayCatch } from './harness/fuzz-imports.ts'
import { createLogImports } from './harness/trace.ts'
import { OP } from './oracle/instruction.ts'
import { isReadable, readModule } from './oracle/module-reader.ts'
import { CorpusFindings } from './random-checks.ts'

/** Runs in every `npm test`; `random-modules.long.test.ts` does the same with 2,000 modules and more slices. */
const SLICES = { v8: [undefined, 997n], portable: [12_345n] } as const

function checkGenerated(exceptions: ExceptionFlavour, vectors: boolean, count: number): CorpusFindings {
  const findings = new CorpusFindings()
  for (let seed = 0; seed < count; seed++) {
    const wasm = createRandomModule(seed, { exceptions, vectors })
    const interpretedOnly = !WebAssembly.validate(wasm)
    expect(interpretedOnly && exceptions !== 'exnref', `seed ${seed} is no valid module`).toBe(false)
    const options = seed % 3 === 0 ? { frequencies: createRandomFrequencies(wasm, seed) } : {}
    const check = { createImports: createLogImports, seed, slices: SLICES, interpretedOnly, options }
    findings.add(`seed ${seed}`, checkModule(wasm, check))
  }
  return findings
}

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
    checkGenerated('none', false, 60).expectSound(floors)
  })

  it('vectors', () => {
    const floors = {
      medianFuel: 5_000,
      shareOver1000: 0.85,
      opcodes: 340,
      shareReturned: 0.8,
      shareStopped: 0.4,
    }
    checkGenerated('none', true, 50).expectSound(floors)
  })

  it('legacy exceptions', () => {
    const findings = checkGenerated('legacy', false, 60)
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
    const findings = checkGenerated('exnref', false, 20)
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
    using corpus = openFuzzCorpus('engine')
    const findings = new CorpusFindings()
    for (let seed = 0; seed < 20; seed++) {
      const wasm = await corpus.module(seed)
      // Now and then binaryen writes an opcode of a feature that was not asked for.
      if (!isReadable(wasm) || !WebAssembly.validate(wasm)) continue
      const options = { importsMayThrow: seed % 2 === 0 || hostMayCatch(readModule(wasm)) }
      const check = { createImports: createFuzzImports, seed, slices: SLICES, options }
      findings.add(`seed ${seed}`, checkModule(wasm, check))
    }
    findings.expectSound({
      medianFuel: 1_000,
      shareOver1000: 0.6,
      opcodes: 90,
      shareReturned: 0.4,
      shareStopped: 0.1,
    })
  })
})
