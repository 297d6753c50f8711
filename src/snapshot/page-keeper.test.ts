import { describe, expect, it, vi } from 'vitest'
import { PageKeeper } from './page-keeper.ts'
import { PageStore } from './page-store.ts'
import { PAGE_BYTES } from './page-tree.ts'

const pageOf = (...bytes: number[]): Uint8Array => {
  const page = new Uint8Array(PAGE_BYTES)
  page.set(bytes)
  return page
}

/** Looks at as many pages, whose contents begin with `first`, and how often the store was asked. */
function look(keeper: PageKeeper, store: PageStore, first: number, pages: number): number {
  const asked = vi.spyOn(store, 'keep')
  const keep = keeper.beginLook()
  for (let i = 0; i < pages; i += 1)
    expect(keep(pageOf(first, i + 1)).subarray(0, 2)).toEqual(Uint8Array.of(first, i + 1))
  const { length } = asked.mock.calls
  asked.mockRestore()
  return length
}

describe('a page keeper', () => {
  it('2: asks in every look while it finds what it asks for', () => {
    const store = new PageStore()
    const others = Array.from({ length: 20 }, (_, turn) =>
      Array.from({ length: 8 }, (_, i) => store.intern(pageOf(turn, i + 1))),
    )
    const keeper = new PageKeeper(store)
    for (const [turn, pages] of others.entries()) {
      expect(look(keeper, store, turn, 8)).toBe(8)
      expect(keeper.beginLook()(pageOf(turn, 1))).toBe(pages[0])
    }
  })

  it('asks in one look of eight while nobody has its pages', () => {
    const store = new PageStore()
    const keeper = new PageKeeper(store)
    const asked = Array.from({ length: 24 }, (_, turn) => look(keeper, store, turn, 10))
    expect(asked).toEqual(Array.from({ length: 24 }, (_, turn) => (turn % 8 === 0 ? 10 : 0)))
  })

  it('does not ask for all pages of a large guest', () => {
    const store = new PageStore()
    expect(look(new PageKeeper(store), store, 1, 200)).toBe(64)
  })

  it('finds again what came to be shared', () => {
    const store = new PageStore()
    const keeper = new PageKeeper(store)
    look(keeper, store, 1, 10)
    const shared = store.intern(pageOf(9, 1))
    for (let turn = 0; turn < 7; turn += 1) expect(keeper.beginLook()(pageOf(9, 1))).not.toBe(shared)
    expect(keeper.beginLook()(pageOf(9, 1))).toBe(shared)
  })

  it('1: keeps copies of what changes later', () => {
    const keeper = new PageKeeper(new PageStore())
    const memory = pageOf(1, 2, 3)
    const kept = [keeper.beginLook()(memory), keeper.beginLook()(memory)]
    memory.fill(9)
    expect(kept.map((page) => page.join() === pageOf(1, 2, 3).join())).toEqual([true, true])
  })
})
