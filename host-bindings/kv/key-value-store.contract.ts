/** What every `KeyValueStore` must do. Run it over each implementation. */
import { describe, expect, it } from 'vitest'
import type { KeyValueQuota, KeyValueStore } from './key-value-store.ts'

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values)

/** Registers the contract's tests for the stores that `open` gives (each empty, with this quota). */
export function describeKeyValueStore(
  name: string,
  open: (quota?: Partial<KeyValueQuota>) => KeyValueStore | Promise<KeyValueStore>,
): void {
  describe(`key-value store: ${name}`, () => {
    it('gives back what was set, the newest only', async () => {
      const store = await open()
      expect(await store.get('a')).toBeUndefined()
      const first = await store.set('a', bytes(1))
      const second = await store.set('a', bytes(2))
      expect(second).toBeGreaterThan(first ?? Number.NaN)
      expect(await store.get('a')).toEqual({ key: 'a', value: bytes(2), version: second })
    })

    it('takes keys that mean something elsewhere as data', async () => {
      const store = await open()
      for (const key of ['__proto__', 'constructor', '../x', 'ä\u{1f600}', '\0']) {
        expect(await store.get(key)).toBeUndefined()
        await store.set(key, bytes(7))
        expect((await store.get(key))?.value).toEqual(bytes(7))
      }
    })

    it('writes under a condition only if the version is the expected one', async () => {
      const store = await open()
      const created = await store.set('a', bytes(1), 0)
      expect(created).toBeGreaterThan(0)
      expect(await store.set('a', bytes(2), 0)).toBeUndefined()
      expect(await store.set('a', bytes(2), created)).toBeGreaterThan(created ?? Number.NaN)
      expect(await store.delete('a', created)).toBe(false)
      expect((await store.get('a'))?.value).toEqual(bytes(2))
    })

    it('lets one of many concurrent conditional writes win', async () => {
      const store = await open()
      const writes = Array.from({ length: 10 }, (_, index) => store.set('a', bytes(index), 0))
      expect((await Promise.all(writes)).filter((version) => version !== undefined)).toHaveLength(1)
    })

    it('never repeats a version, also for a key that was deleted', async () => {
      const store = await open()
      const first = await store.set('a', bytes(1))
      expect(await store.delete('a')).toBe(true)
      expect(await store.delete('a')).toBe(false)
      expect(await store.set('a', bytes(1))).not.toBe(first)
    })

    it('lists by prefix, in order, page by page', async () => {
      const store = await open()
      for (const key of ['b:2', 'a', 'b:1', 'b:10', 'c']) await store.set(key, bytes(1, 2))
      const page = await store.list({ prefix: 'b:', limit: 2 })
      expect(page.map(({ key, bytes }) => [key, bytes])).toEqual([
        ['b:1', 2],
        ['b:10', 2],
      ])
      const rest = await store.list({ prefix: 'b:', after: 'b:10', limit: 2 })
      expect(rest.map(({ key }) => key)).toEqual(['b:2'])
    })

    it('keeps no reference to what it was given or gave', async () => {
      const store = await open()
      const given = bytes(1)
      await store.set('a', given)
      given[0] = 9
      const got = await store.get('a')
      got?.value.fill(8)
      expect((await store.get('a'))?.value).toEqual(bytes(1))
    })

    it.each<[string, Partial<KeyValueQuota>, string, number]>([
      ['keys', { keys: 1 }, 'b', 1],
      ['the length of a key in UTF-8', { keyBytes: 3 }, 'ää', 1],
      ['the size of a value', { valueBytes: 4 }, 'b', 5],
      ['bytes in all', { totalBytes: 10 }, 'b', 8],
    ])('refuses to exceed the quota on %s, and loses nothing', async (_name, quota, key, size) => {
      const store = await open(quota)
      await store.set('a', bytes(1, 2))
      await expect(store.set(key, new Uint8Array(size))).rejects.toMatchObject({ code: 'quota_exceeded' })
      expect((await store.list({ prefix: '', limit: 9 })).map((head) => head.key)).toEqual(['a'])
      // Replacing and deleting give back what was used.
      await store.set('a', bytes(3))
      await store.delete('a')
      await store.set('c', bytes(1, 2, 3, 4))
    })
  })
}
