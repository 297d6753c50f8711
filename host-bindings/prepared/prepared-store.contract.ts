/** What every place for prepared modules must do. */
import { beforeEach, describe, expect, it } from 'vitest'
import type { PreparedStore } from '../../src/ports/prepared-store.ts'

const nameOf = (index: number): string => index.toString(16).padStart(64, '0')

/** @param open a store that is empty, and keeps at most so many bytes */
export function describePreparedStore(
  kind: string,
  open: (maxBytes: number) => Promise<PreparedStore>,
): void {
  describe(`a store of prepared modules: ${kind}`, () => {
    let store: PreparedStore
    beforeEach(async () => {
      store = await open(1_000)
    })

    it('gives what was put, and keeps no bytes of its caller', async () => {
      expect(await store.get(nameOf(1), 1_000)).toBeUndefined()
      const bytes = new Uint8Array([1, 2, 3])
      await store.put(nameOf(1), bytes)
      bytes.fill(9)
      const given = await store.get(nameOf(1), 1_000)
      expect(given).toEqual(new Uint8Array([1, 2, 3]))
      given?.fill(9)
      expect(await store.get(nameOf(1), 1_000)).toEqual(new Uint8Array([1, 2, 3]))
      await store.put(nameOf(1), new Uint8Array([4]))
      expect(await store.get(nameOf(1), 1_000)).toEqual(new Uint8Array([4]))
    })

    it('does not read what is larger than asked for', async () => {
      await store.put(nameOf(1), new Uint8Array(100))
      expect(await store.get(nameOf(1), 99)).toBeUndefined()
      expect(await store.get(nameOf(1), 100)).toHaveLength(100)
    })

    it('stays below its bound, and keeps what is new', async () => {
      await store.put(nameOf(1_000), new Uint8Array(1_001))
      expect(await store.get(nameOf(1_000), 2_000)).toBeUndefined()
      for (let index = 0; index < 30; index++) await store.put(nameOf(index), new Uint8Array(100))
      let total = 0
      for (let index = 0; index < 30; index++) total += (await store.get(nameOf(index), 1_000))?.length ?? 0
      expect(total).toBeLessThanOrEqual(1_000)
      expect(total).toBeGreaterThan(0)
      expect(await store.get(nameOf(29), 1_000)).toHaveLength(100)
    })

    it('gives all of one or all of the other while many write', async () => {
      const filled = (byte: number): Uint8Array => new Uint8Array(300 + byte).fill(byte)
      const isWhole = (bytes: Uint8Array): boolean =>
        bytes.length === 300 + (bytes[0] as number) && bytes.every((byte) => byte === bytes[0])
      await store.put(nameOf(1), filled(1))
      const writing = Array.from({ length: 40 }, (_, byte) => store.put(nameOf(1), filled(byte + 1)))
      const seen = await Promise.all(Array.from({ length: 40 }, () => store.get(nameOf(1), 1_000)))
      await Promise.all(writing)
      seen.push(await store.get(nameOf(1), 1_000))
      const there = seen.filter((bytes) => bytes !== undefined)
      expect(there.length).toBeGreaterThan(0)
      expect(there.every(isWhole)).toBe(true)
    })
  })
}
