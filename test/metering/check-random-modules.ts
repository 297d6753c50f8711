/** Corpora of random modules, each module checked plain and metered: what the short and the long test have in common. */
import { expect } from 'vitest'
import { type FuzzFlavour, openFuzzCorpus } from './corpus/fuzz-corpus.ts'
import { createRandomFrequencies } from './corpus/random-frequencies.ts'
import { createRandomModule } from './corpus/random-module.ts'
import type { ExceptionFlavour } from './corpus/random-world.ts'
import { CorpusFindings } from './corpus-findings.ts'
import { checkModule, type ModuleCheck } from './harness/check-module.ts'
import { createFuzzImports, hostMayCatch } from './harness/fuzz-imports.ts'
import { createLogImports } from './harness/trace.ts'
import { isReadable, readModule } from './oracle/module-reader.ts'

/** Which modules, and in which slices their fuel is handed out. */
export interface CorpusPart {
  readonly firstSeed: number
  readonly count: number
  readonly slices: ModuleCheck['slices']
}

/** Modules of our own generator, a third of them placed by random frequencies. */
export function checkGenerated(
  exceptions: ExceptionFlavour,
  vectors: boolean,
  { firstSeed, count, slices }: CorpusPart,
): CorpusFindings {
  const findings = new CorpusFindings()
  for (let seed = firstSeed; seed < firstSeed + count; seed++) {
    const wasm = createRandomModule(seed, { exceptions, vectors })
    const interpretedOnly = !WebAssembly.validate(wasm)
    expect(interpretedOnly && exceptions !== 'exnref', `seed ${seed} is no valid module`).toBe(false)
    const options = seed % 3 === 0 ? { frequencies: createRandomFrequencies(wasm, seed) } : {}
    const check = { createImports: createLogImports, seed, slices, interpretedOnly, options }
    findings.add(`seed ${seed}`, checkModule(wasm, check))
  }
  return findings
}

/** Modules of another generator, binaryen's fuzzing; those with exceptions of both kinds run in the interpreter only. */
export async function checkFuzzed(
  flavour: FuzzFlavour,
  { firstSeed, count, slices }: CorpusPart,
): Promise<CorpusFindings> {
  using corpus = openFuzzCorpus(flavour)
  const findings = new CorpusFindings()
  const interpretedOnly = flavour === 'exceptions'
  let checked = 0
  for (let seed = firstSeed; checked < count; seed++) {
    expect(seed - firstSeed, 'modules that cannot be used').toBeLessThan(count * 1.1 + 10)
    const wasm = await corpus.module(seed)
    // Now and then binaryen writes an opcode of a feature that was not asked for.
    if (!isReadable(wasm) || (!interpretedOnly && !WebAssembly.validate(wasm))) continue
    checked += 1
    // Half of the modules let all host exceptions pass, so that fuel is exact across those too.
    const options = { importsMayThrow: seed % 2 === 0 || hostMayCatch(readModule(wasm)) }
    const check = { createImports: createFuzzImports, seed, slices, interpretedOnly, options }
    findings.add(`seed ${seed}`, checkModule(wasm, check))
  }
  return findings
}
