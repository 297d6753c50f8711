import { describe, expect, it } from 'vitest'
import { inputIssues, invokeBinding } from '../invoke-binding.testkit.ts'
import { createKeyValueCapabilities } from './key-value-capabilities.ts'
import { describeKeyValueStore } from './key-value-store.contract.ts'
import { createMemoryKeyValueStore } from './memory-key-value-store.ts'

describeKeyValueStore('memory', (quota) => createMemoryKeyValueStore(quota))

describe('kv capabilities', () => {
  it('carry JSON values, and null for a missing key', async () => {
    const kv = createKeyValueCapabilities()
    expect(await invokeBinding(kv, 'kv.get', { key: 'a' })).toBe(null)
    const value = { list: [1, 'two', null, { deep: true }] }
    const { version } = (await invokeBinding(kv, 'kv.set', { key: 'a', value })) as { version: number }
    expect(await invokeBinding(kv, 'kv.get', { key: 'a' })).toEqual({ value, version })
  })

  it.each([
    ['undefined', { a: [undefined] }, 'value.a.0'],
    ['NaN', [Number.NaN], 'value.0'],
    ['-0', [-0], 'value.0'],
    ['a Date', { at: new Date(0) }, 'value.at'],
    ['a Map', new Map(), 'value'],
    ['a BigInt', 1n, 'value'],
  ])('refuse %s, which JSON would change, with its path', (_name, value, path) => {
    expect(inputIssues(createKeyValueCapabilities(), 'kv.set', { key: 'a', value })).toContain(path)
  })

  it('refuse values too deep or too many to walk', () => {
    let deep: unknown = null
    for (let level = 0; level < 20_000; level++) deep = [deep]
    expect(inputIssues(createKeyValueCapabilities(), 'kv.set', { key: 'a', value: deep })).toContain('levels')
    let shared: unknown = [1]
    for (let level = 0; level < 30; level++) shared = [shared, shared]
    expect(inputIssues(createKeyValueCapabilities(), 'kv.set', { key: 'a', value: shared })).toContain(
      'in all',
    )
  })

  it('swap only what has not changed since', async () => {
    const kv = createKeyValueCapabilities()
    const first = await invokeBinding(kv, 'kv.compareAndSet', { key: 'n', version: 0, value: 1 })
    expect(first).toEqual({ swapped: true, version: 1 })
    const stale = await invokeBinding(kv, 'kv.compareAndSet', { key: 'n', version: 0, value: 2 })
    expect(stale).toEqual({ swapped: false, version: 1 })
  })

  it('list in pages that end with null', async () => {
    const kv = createKeyValueCapabilities()
    for (const key of ['a', 'b', 'c']) await invokeBinding(kv, 'kv.set', { key, value: 1 })
    const page = (await invokeBinding(kv, 'kv.list', { limit: 2 })) as { next: string }
    expect(page).toMatchObject({ entries: [{ key: 'a' }, { key: 'b' }], next: 'b' })
    const rest = await invokeBinding(kv, 'kv.list', { after: page.next })
    expect(rest).toMatchObject({ entries: [{ key: 'c' }], next: null })
  })

  it('leave out everything that writes where asked to', () => {
    const names = createKeyValueCapabilities({ write: false }).map(({ name }) => name)
    expect(names).toEqual(['kv.get', 'kv.list'])
  })
})
