/** Block frequencies as a profile might measure them, but random: they may move charges, never change a total. */
import type { BlockFrequencies } from '../../../src/wasm/meter-options.ts'
import { SeededRandom } from '../../seeded-random.ts'
import { readModule } from '../oracle/module-reader.ts'

const BLOCKS = 300

/** Frequencies for every second function: many zeros, some ones, a few large counts. */
export function createRandomFrequencies(wasm: Uint8Array, seed: number): BlockFrequencies {
  const random = new SeededRandom(seed)
  const frequencies = new Map<number, number[]>()
  readModule(wasm).functions.forEach(({ imported }, index) => {
    if (imported !== undefined || random.oneIn(2)) return
    const counts = Array.from({ length: BLOCKS }, () => random.pick([0, 0, 1, random.below(1_000_000)]))
    frequencies.set(index, counts)
  })
  return frequencies
}
