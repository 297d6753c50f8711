import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { PageStore } from './page-store.ts'
import { PAGE_BYTES, PageTree } from './page-tree.ts'

const pageOf = (...bytes: number[]): Uint8Array => {
  const page = new Uint8Array(PAGE_BYTES)
  page.set(bytes)
  return page
}

/** Frees what nobody holds: weak references live to the end of the job, and finalizers run after it. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  await new Promise((resolve) => setImmediate(resolve))
  gc()
  await new Promise((resolve) => setImmediate(resolve))
}

describe('a page store', () => {
  it('gives the page that was there first for an equal one', () => {
    const store = new PageStore()
    const first = pageOf(1, 2, 3)
    expect(store.intern(first)).toBe(first)
    expect(store.intern(pageOf(1, 2, 3))).toBe(first)
    expect(store.intern(new Uint8Array(PAGE_BYTES + 1).fill(0).subarray(1))).not.toBe(first)
  })

  it('copies what it keeps of memory that changes later, and only what nobody has', () => {
    const store = new PageStore()
    const memory = pageOf(1, 2, 3)
    const kept = store.keep(memory)
    memory.fill(9)
    expect(kept).toEqual(pageOf(1, 2, 3))
    expect(store.keep(pageOf(1, 2, 3))).toBe(kept)
  })

  it('never gives a page with other bytes, whatever their hashes', () => {
    const store = new PageStore()
    fc.assert(
      fc.property(
        fc.nat(PAGE_BYTES - 1),
        fc.integer({ min: 1, max: 255 }),
        fc.nat(PAGE_BYTES - 1),
        (at, value, other) => {
          const page = pageOf()
          page[at] = value
          page[other] = value
          expect(Buffer.compare(store.intern(page.slice()), page)).toBe(0)
        },
      ),
    )
  })

  it('lets two pages with one hash be two pages', () => {
    // With this, every hash is the same.
    vi.spyOn(Math, 'imul').mockReturnValue(0)
    const store = new PageStore()
    const [a, b] = [pageOf(1), pageOf(2)]
    expect([store.intern(a), store.intern(b), store.intern(pageOf(2))]).toEqual([a, b, b])
    expect(store.intern(pageOf(2))).toBe(b)
    expect(store.size).toBe(1)
  })

  it('shares nothing with another store', () => {
    const page = pageOf(1)
    new PageStore().intern(page)
    const own = pageOf(1)
    expect(new PageStore().intern(own)).toBe(own)
  })

  it('finds a page that begins anywhere in its buffer', () => {
    const store = new PageStore()
    const first = store.intern(pageOf(5))
    const shifted = new Uint8Array(PAGE_BYTES + 3)
    shifted[3] = 5
    expect(store.intern(shifted.subarray(3))).toBe(first)
  })

  it('keeps no page alive, and forgets those that are gone', async () => {
    const store = new PageStore()
    const held = pageOf(0, 0, 1)
    store.intern(held)
    for (let round = 0; round < 20; round++) {
      for (let i = 0; i < 200; i++) store.intern(pageOf(round, i, 7))
      await collectGarbage()
    }
    for (let i = 0; i < 256; i++) store.intern(pageOf(99, i, 7))
    expect(store.size).toBeLessThan(1_100)
    expect(store.intern(pageOf(0, 0, 1))).toBe(held)
  })

  it('holds what 1,000 guests of one program have in common once', () => {
    const store = new PageStore()
    const base = PageTree.empty.with(Array.from({ length: 40 }, (_, i) => [i, pageOf(1, i)] as const))
    const distinct = new Set<Uint8Array>()
    for (let guest = 0; guest < 1_000; guest++) {
      const changes = Array.from(
        { length: 11 },
        (_, i) => [i, i < 9 ? pageOf(2, i) : pageOf(3, i, guest % 256, guest >> 8)] as const,
      )
      const tree = base.with(store.internChanges(changes))
      for (const [, page] of tree.pages()) distinct.add(page)
    }
    expect(distinct.size).toBe(29 + 9 + 2 * 1_000)
  })
})

describe('a page store without weak references', () => {
  it('shares nothing rather than hold everything', () => {
    vi.stubGlobal('WeakRef', undefined)
    const store = new PageStore()
    store.intern(pageOf(1))
    const own = pageOf(1)
    expect(store.intern(own)).toBe(own)
    expect(store.size).toBe(0)
  })
})
