/** How often the engine's blocks run: measured once, kept as data, so that every build places charges alike. */
import { existsSync, readFileSync } from 'node:fs'
import { inflateRawSync } from 'node:zlib'
import type { BlockFrequencies } from '../../src/wasm/meter-options.ts'

const file = new URL('frequencies.bin', import.meta.url)

/**
 * Reads what `scripts/measure-frequencies.ts` wrote: raw deflate over, per function, its index and the number of
 * its blocks (u32 each) and one byte per block, the count as 4 * log2(count + 1).
 */
export function readFrequencies(): BlockFrequencies {
  const frequencies = new Map<number, Float64Array>()
  if (!existsSync(file)) return frequencies
  const bytes = inflateRawSync(readFileSync(file))
  for (let at = 0; at < bytes.length; ) {
    const fn = bytes.readUInt32LE(at)
    const blocks = bytes.readUInt32LE(at + 4)
    at += 8
    frequencies.set(
      fn,
      Float64Array.from(bytes.subarray(at, at + blocks), (level) => 2 ** (level / 4) - 1),
    )
    at += blocks
  }
  return frequencies
}
