/**
 * The digest of a guest's whole live state: equal histories give equal digests, on every runtime.
 *
 * Covers the linear memory without the dead stack, by 4 KiB pages; pages of zeros do not count, so that the
 * size to which the memory happens to be reserved does not either. Fuel, clock and seed live outside.
 */
import { type Digest, sha256Hasher } from '../base/digest.ts'
import type { EngineInstance } from './engine-instance.ts'

const PAGE = 4_096

export function stateDigest(instance: EngineInstance, pendingIds: Iterable<number>): Digest {
  const { id, layout } = instance.engine
  const bytes = instance.bytes
  const words = instance.words
  const hasher = sha256Hasher()
  const number = new DataView(new ArrayBuffer(8))
  const addNumber = (value: number): void => {
    number.setFloat64(0, value)
    hasher.update(new Uint8Array(number.buffer))
  }
  hasher.update(new TextEncoder().encode(`caisson state 1\n${id}\n`))
  for (const call of pendingIds) addNumber(call)
  for (let start = 0; start < bytes.length; start += PAGE) {
    if (start >= layout.stackEnd && start + PAGE <= layout.stackBase) continue
    if (isZero(words, start)) continue
    addNumber(start)
    // The pages at the edges of the stack: its dead part counts as zero.
    const page = bytes.slice(start, start + PAGE)
    if (start < layout.stackBase && start + PAGE > layout.stackEnd) {
      page.fill(0, Math.max(0, layout.stackEnd - start), Math.min(PAGE, layout.stackBase - start))
    }
    hasher.update(page)
  }
  return hasher.digest()
}

function isZero(words: Uint32Array, start: number): boolean {
  for (let i = start >>> 2; i < (start + PAGE) >>> 2; i += 1) if (words[i] !== 0) return false
  return true
}
