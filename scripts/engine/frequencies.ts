/**
 * How often the engine's blocks run: measured once, kept as data, so that every build places charges alike.
 *
 * The file is raw deflate over, per function: its index and the number of its blocks (u32, little endian), then
 * one u16 per block, the count as 32 * log2(count + 1): within about one percent.
 */
import { existsSync, readFileSync } from 'node:fs'
import { inflateRawSync } from 'node:zlib'
import type { BlockFrequencies } from '../../src/wasm/meter-options.ts'

export const frequenciesFile: URL = new URL('frequencies.bin', import.meta.url)

/** Empty when nothing was measured: the metering pass then estimates. */
export function readFrequencies(): BlockFrequencies {
  return existsSync(frequenciesFile)
    ? decodeFrequencies(inflateRawSync(readFileSync(frequenciesFile)))
    : new Map()
}

const LEVELS_PER_OCTAVE = 32

export function encodeFrequencies(frequencies: ReadonlyMap<number, Float64Array>): Uint8Array {
  const parts: Buffer[] = []
  for (const [fn, blocks] of frequencies) {
    if (blocks.every((count) => count === 0)) continue
    const part = Buffer.alloc(8 + 2 * blocks.length)
    part.writeUInt32LE(fn, 0)
    part.writeUInt32LE(blocks.length, 4)
    for (const [block, count] of blocks.entries()) {
      part.writeUInt16LE(Math.round(LEVELS_PER_OCTAVE * Math.log2(count + 1)), 8 + 2 * block)
    }
    parts.push(part)
  }
  return Buffer.concat(parts)
}

function decodeFrequencies(bytes: Buffer): BlockFrequencies {
  const frequencies = new Map<number, Float64Array>()
  for (let at = 0; at < bytes.length; ) {
    const fn = bytes.readUInt32LE(at)
    const blocks = bytes.readUInt32LE(at + 4)
    at += 8
    const counts = Float64Array.from({ length: blocks }, (_, block) => {
      return 2 ** (bytes.readUInt16LE(at + 2 * block) / LEVELS_PER_OCTAVE) - 1
    })
    frequencies.set(fn, counts)
    at += 2 * blocks
  }
  return frequencies
}
