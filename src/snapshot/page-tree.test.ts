import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sha256Bytes } from '../base/digest.ts'
import { dirtyPages } from './dirty-pages.ts'
import { neutralPageTools } from './neutral-page-tools.ts'
import { PAGE_BYTES, type PageChange, PageTree } from './page-tree.ts'

const pageOf = (fill: number): Uint8Array | undefined =>
  fill === 0 ? undefined : new Uint8Array(PAGE_BYTES).fill(fill)

/** Page numbers around the edges of groups, and contents; 0 is a page of zeros. */
const edits = fc.array(fc.tuple(fc.constantFrom(0, 1, 62, 63, 64, 65, 127, 128, 1_000), fc.nat(3)))

const changesOf = (list: readonly (readonly [number, number])[]): PageChange[] =>
  list.map(([index, fill]) => [index, pageOf(fill)])

const contents = (tree: PageTree): [number, number | undefined][] =>
  [...tree.pages()].map(([index, page]) => [index, page[0]])

describe('a page tree', () => {
  it('holds what was put last, in ascending order, without pages of zeros', () => {
    fc.assert(
      fc.property(edits, edits, (first, second) => {
        const model = new Map<number, number>([...first, ...second])
        const tree = PageTree.empty.with(changesOf(first)).with(changesOf(second))
        const expected = [...model].filter(([, fill]) => fill !== 0).sort(([a], [b]) => a - b)
        expect(contents(tree)).toEqual(expected)
        expect(tree.pageCount).toBe(expected.length)
        expect(tree.end).toBe((expected.at(-1)?.[0] ?? -1) + 1)
        for (const [index, fill] of model) expect(tree.page(index)?.[0] ?? 0).toBe(fill)
      }),
    )
  })

  it('says what changed since any other tree, so that one becomes the other', () => {
    fc.assert(
      fc.property(edits, edits, (first, second) => {
        const before = PageTree.empty.with(changesOf(first))
        const after = before.with(changesOf(second))
        const unrelated = PageTree.empty.with(changesOf(second))
        expect(contents(before.with(after.changesSince(before)))).toEqual(contents(after))
        expect(contents(before.with(unrelated.changesSince(before)))).toEqual(contents(unrelated))
      }),
    )
  })

  it('never changes: neither by later changes nor through what it was made from', () => {
    const list: PageChange[] = [[3, pageOf(1)]]
    const tree = PageTree.empty.with(list)
    tree.with([[3, pageOf(2)]])
    list[0] = [3, undefined]
    expect(contents(tree)).toEqual([[3, 1]])
  })

  it('has one root for one content, however it came about, and another for any other', () => {
    fc.assert(
      fc.property(edits, edits, (first, second) => {
        const a = PageTree.empty.with(changesOf(first)).with(changesOf(second))
        const b = PageTree.empty.with([...a.pages()].map(([index, page]) => [index, page.slice()]))
        expect(a.root()).toBe(b.root())
        const moved = PageTree.empty.with([...a.pages()].map(([index, page]) => [index + 1, page]))
        if (a.pageCount > 0) expect(moved.root()).not.toBe(a.root())
      }),
    )
  })

  it('has the same root when the trees that it is made of were digested, wholly or in part', () => {
    const rebuilt = (tree: PageTree): PageTree =>
      PageTree.empty.with([...tree.pages()].map(([index, page]) => [index, page.slice()]))
    fc.assert(
      fc.property(edits, edits, edits, fc.nat(5), (first, second, third, pieces) => {
        const whole = PageTree.empty.with(changesOf(first))
        whole.root()
        const part = whole.with(changesOf(second))
        const digesting = part.digestInPieces(sha256Bytes)[Symbol.iterator]()
        for (let i = 0; i < pieces; i++) digesting.next()
        const children = [whole.with(changesOf(third)), part.with(changesOf(third)), part]
        for (const child of children) expect(child.root()).toBe(rebuilt(child).root())
        while (digesting.next().done !== true);
        expect(part.root()).toBe(rebuilt(part).root())
        expect(part.with(changesOf(first)).root()).toBe(rebuilt(part.with(changesOf(first))).root())
      }),
      { numRuns: 30 },
    )
  })

  it('digests only what is new', () => {
    const digested: number[] = []
    const counting = (bytes: Uint8Array): Uint8Array => {
      digested.push(bytes.length)
      return sha256Bytes(bytes)
    }
    const many = PageTree.empty.with(
      Array.from({ length: 640 }, (_, i) => [i, pageOf((i % 250) + 1)] as const),
    )
    many.root(counting)
    digested.length = 0
    many.with([[7, pageOf(9)]]).root(counting)
    expect(digested.filter((bytes) => bytes === PAGE_BYTES)).toHaveLength(1)
    expect(digested).toHaveLength(3)
  })
})

describe('dirty pages', () => {
  it('are those whose bytes differ inside of the ranges, copied', () => {
    const memory = new Uint8Array(8 * PAGE_BYTES)
    const known = PageTree.empty.with([
      [0, pageOf(1)],
      [1, pageOf(1)],
      [5, pageOf(1)],
    ])
    memory.fill(1, 0, PAGE_BYTES) // as before
    memory[2 * PAGE_BYTES - 1] = 7 // one byte of what was all ones
    memory[4 * PAGE_BYTES] = 7 // between the ranges
    const found = dirtyPages(memory, known, [
      { start: 0, end: 3 * PAGE_BYTES },
      { start: 5 * PAGE_BYTES, end: 8 * PAGE_BYTES },
    ])
    expect(found.map(([index, page]) => [index, page?.at(-1)])).toEqual([
      [1, 7],
      [5, undefined],
    ])
    memory.fill(9)
    expect(found[0]?.[1]?.at(-1)).toBe(7)
  })

  it('are found wherever they lie among pages of zeros, and nothing else is', () => {
    const pages = 70
    const touched = fc.uniqueArray(fc.tuple(fc.nat(pages - 1), fc.nat(PAGE_BYTES - 1)), {
      maxLength: 4,
      selector: ([index]) => index,
    })
    fc.assert(
      fc.property(touched, fc.uniqueArray(fc.nat(pages - 1), { maxLength: 4 }), (written, before) => {
        const memory = new Uint8Array(pages * PAGE_BYTES)
        for (const [index, at] of written) memory[index * PAGE_BYTES + at] = 9
        const known = PageTree.empty.with(before.map((index) => [index, pageOf(1)] as const))
        const found = dirtyPages(memory, known, [{ start: 0, end: memory.length }])
        const expected = [...new Set([...written.map(([index]) => index), ...before])].sort((a, b) => a - b)
        expect(found.map(([index]) => index)).toEqual(expected)
        for (const [index, at] of written) {
          expect(found.find(([changed]) => changed === index)?.[1]?.[at]).toBe(9)
        }
      }),
      { numRuns: 50 },
    )
  })

  it('are found in memory that begins anywhere', () => {
    const memory = new Uint8Array(PAGE_BYTES + 3).subarray(3)
    expect(neutralPageTools.samePage(memory, 0, new Uint8Array(PAGE_BYTES))).toBe(true)
    memory[PAGE_BYTES - 1] = 1
    expect(neutralPageTools.samePage(memory, 0, new Uint8Array(PAGE_BYTES))).toBe(false)
  })
})
