/**
 * How often the engine's blocks run: measured once, kept as data, so that every build places charges alike.
 *
 * The file is raw deflate over, per function: its index and the number of its blocks (u32, little endian), then
 * one byte per block, the count as 4 * log2(count + 1).
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

export function encodeFrequencies(frequencies: ReadonlyMap<number, Float64Array>): Uint8Array {
  const parts: Buffer[] = []
  for (const [fn, blocks] of frequencies) {
    if (blocks.every((count) => count === 0)) continue
    const head = Buffer.alloc(8)
    head.writeUInt32LE(fn, 0)
    head.writeUInt32LE(blocks.length, 4)
    parts.push(head, Buffer.from(Uint8Array.from(blocks, (count) => Math.round(4 * Math.log2(count + 1)))))
  }
  return Buffer.concat(parts)
}

function decodeFrequencies(bytes: Buffer): BlockFrequencies {
  const frequencies = new Map<number, Float64Array>()
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
