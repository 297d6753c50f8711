import { describe, expect, it } from 'vitest'
import { sha256 } from '../../src/base/digest.ts'
import { createMemoryRunStore } from './memory-run-store.ts'
import { describeRunStore } from './run-store.contract.ts'

describeRunStore('memory', async () => {
  const store = createMemoryRunStore()
  return { store, another: async () => store }
})

describe('a run store in memory', () => {
  it('refuses to exceed its quota, loses nothing, and takes more when something goes', async () => {
    const store = createMemoryRunStore({ maxBytes: 100 })
    const lease = await store.lease('r', 1_000)
    const blob = new Uint8Array(60)
    await store.putBlob(sha256(blob), blob)
    await store.append('r', 0, [new Uint8Array(30)], lease)
    const full = { code: 'quota_exceeded', details: { quota: 'bytes', limit: 100 } }
    await expect(store.append('r', 1, [new Uint8Array(6), new Uint8Array(6)], lease)).rejects.toMatchObject(
      full,
    )
    const summary = new Uint8Array(11)
    const head = { version: 1, chain: [], position: 1, summary }
    await expect(store.setHead('r', head, lease)).rejects.toMatchObject(full)
    await expect(store.putBlob(sha256(summary), summary)).rejects.toMatchObject(full)
    expect(await store.entries('r', 0, 9)).toEqual([new Uint8Array(30)])
    expect(await store.head('r')).toBeUndefined()
    expect(await store.collect({ graceMs: 0 })).toMatchObject({ removed: 1 })
    await store.setHead('r', head, lease)
  })

  it('refuses options that are none', () => {
    for (const options of [{ maxBytes: -1 }, { clock: {} }, { size: 1 }]) {
      expect(() => createMemoryRunStore(options as never)).toThrow(
        expect.objectContaining({ code: 'invalid_argument' }),
      )
    }
  })
})
