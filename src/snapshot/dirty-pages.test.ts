import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nodePageTools } from '../../host-bindings/system/page-tools.node.ts'
import { dirtyPages } from './dirty-pages.ts'
import { neutralPageTools } from './neutral-page-tools.ts'
import { PAGE_BYTES, type PageChange, PageTree } from './page-tree.ts'

const PAGES = 40
const ALL = [{ start: 0, end: PAGES * PAGE_BYTES }]

/** Pages whose first bytes are these, none longer than the memory. */
function memoryOf(marks: readonly number[]): Uint8Array {
  const memory = new Uint8Array(PAGES * PAGE_BYTES)
  for (const [index, mark] of marks.entries())
    memory[index * PAGE_BYTES + (mark % 2) * (PAGE_BYTES - 1)] = mark
  return memory
}

/** In one piece, as a base image, or page by page. */
function treeOf(memory: Uint8Array, inOnePiece: boolean): PageTree {
  return PageTree.empty.with(
    dirtyPages(memory, PageTree.empty, ALL, undefined, inOnePiece ? (view) => view : undefined),
  )
}

const tell = (changes: Iterable<PageChange>): unknown =>
  Array.from(changes, ([index, page]) => [index, page && [page[0], page[PAGE_BYTES - 1]]])

describe('dirtyPages', () => {
  it.each([
    ['plain JavaScript', neutralPageTools.samePage],
    ['the C library', nodePageTools.samePage],
  ])('finds each page that changed and no other, however they lie in memory, by %s', (_what, same) => {
    const marks = fc.array(fc.constantFrom(0, 0, 0, 1, 2, 3), { minLength: PAGES, maxLength: PAGES })
    const run = fc.tuple(fc.nat(PAGES - 1), fc.nat(PAGES), fc.constantFrom(0, 1, 2))
    fc.assert(
      fc.property(marks, fc.array(run, { maxLength: 3 }), fc.boolean(), (before, runs, inOnePiece) => {
        const after = [...before]
        for (const [start, length, mark] of runs) after.fill(mark, start, start + length)
        const known = treeOf(memoryOf(before), inOnePiece)
        const changes = dirtyPages(memoryOf(after), known, ALL, same)
        const expected = after.flatMap((mark, index) =>
          mark === before[index]
            ? []
            : [[index, mark === 0 ? undefined : [mark % 2 ? 0 : mark, mark % 2 ? mark : 0]]],
        )
        expect(tell(changes)).toEqual(expected)
      }),
      { numRuns: 60 },
    )
  })

  it('looks at the bytes between its samples before it takes a page for zeros', () => {
    const memory = new Uint8Array(PAGE_BYTES).fill(7)
    const known = PageTree.empty.with([[0, memory.slice()]])
    memory.fill(0)
    const range = [{ start: 0, end: PAGE_BYTES }]
    expect(dirtyPages(memory, known, range)).toEqual([[0, undefined]])
    memory[1] = 1
    expect(tell(dirtyPages(memory, known, range))).toEqual([[0, [0, 0]]])
  })
})
