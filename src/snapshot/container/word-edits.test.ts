import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ByteReader } from '../../base/byte-reader.ts'
import type { Page } from '../page.ts'
import { PAGE_BYTES } from '../page-tree.ts'
import { RecentWords } from './recent-words.ts'
import { applyWordEdits, WordEditor } from './word-edits.ts'

/** Words that a heap has and words that it has not, many of them equal. */
const word = fc.oneof(
  fc.nat(100),
  fc.constantFrom(0xffff_ffff, 0x8000_0000, 0xffff_fff9, 0x20, 0x1f),
  fc.integer({ min: 0, max: 2_000 }).map((n) => 4 * n),
  fc.integer({ min: 0, max: 2 ** 32 - 1 }),
)
const page = fc.array(fc.tuple(fc.nat(1_023), word), { maxLength: 200 }).map((words) => {
  const bytes = new Uint8Array(PAGE_BYTES)
  const view = new DataView(bytes.buffer)
  for (const [at, value] of words) view.setUint32(4 * at, value, true)
  return bytes
})

function apply(index: number, before: Page, edits: Uint8Array): Uint8Array {
  const page = before?.slice() ?? new Uint8Array(PAGE_BYTES)
  applyWordEdits(new ByteReader(edits), index, page, new RecentWords())
  return page
}

/** Comparing pages with `toEqual` takes milliseconds. */
const isSame = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0

describe('word edits', () => {
  it('turn the page before into the page after (invariant 1)', () => {
    fc.assert(
      fc.property(fc.nat(65_535), fc.option(page), page, (index, before, after) => {
        const edits = new WordEditor(8_192).encode(index, before ?? undefined, after) as Uint8Array
        expect(isSame(apply(index, before ?? undefined, edits), after)).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  it('say nothing where nothing changed', () => {
    const same = new Uint8Array(PAGE_BYTES).fill(7)
    expect(new WordEditor(100).encode(3, same, same.slice())).toEqual(new Uint8Array([0]))
  })

  it('take a byte or two for a counter, a near pointer, and a value that was seen', () => {
    const before = new Uint8Array(PAGE_BYTES)
    const view = new DataView(before.buffer)
    view.setUint32(0, 123_456_789, true)
    const after = before.slice()
    const changed = new DataView(after.buffer)
    changed.setUint32(0, 123_456_795, true)
    changed.setUint32(400, 40 * PAGE_BYTES + 300, true)
    changed.setUint32(800, 123_456_795, true)
    const edits = new WordEditor(100).encode(40, before, after) as Uint8Array
    // A count of runs, then for each its start in one or two bytes and its word.
    expect(edits.length).toBe(1 + (1 + 1) + (2 + 2) + (2 + 1))
    expect(isSame(apply(40, before, edits), after)).toBe(true)
  })

  it('are given up when too long, without a trace (invariant 2)', () => {
    const noise = Uint8Array.from({ length: PAGE_BYTES }, (_, i) => (i * 7_919 * i) >>> 3)
    const after = new Uint8Array(PAGE_BYTES)
    new DataView(after.buffer).setUint32(0, 0xdead_beef, true)
    const editor = new WordEditor(1_000)
    expect(editor.encode(0, undefined, noise)).toBeUndefined()
    const edits = (editor.encode(0, undefined, after) as Uint8Array).slice()
    expect(edits).toEqual(new WordEditor(1_000).encode(0, undefined, after))
  })

  it('read from any bytes write inside of the page or are refused (invariant 3)', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), page, (bytes, before) => {
        // Somewhere in a buffer, to see what lies around it.
        const around = new Uint8Array(PAGE_BYTES + 128).fill(0xee)
        const within = around.subarray(64, 64 + PAGE_BYTES)
        within.set(before)
        try {
          applyWordEdits(new ByteReader(bytes), 9, within, new RecentWords())
        } catch (error) {
          expect(error).toMatchObject({ code: 'corrupted' })
        }
        const [front, back] = [around.subarray(0, 64), around.subarray(-64)]
        expect([...front, ...back].every((byte) => byte === 0xee)).toBe(true)
      }),
      { numRuns: 2_000 },
    )
  })

  it.each([
    ['a run beyond the page', [1, 0xf0, 0xf2, 0x07, 4]],
    ['a run of more words than the page has', [1, 0x0f, 0xf2, 0x07, ...new Array<number>(1_025).fill(4)]],
    ['a recent word that was not written', [1, 0x00, 3]],
    ['a word of 33 bits', [1, 0x00, 0x80, 0x80, 0x80, 0x80, 0x40]],
    ['a count without runs', [200]],
  ])('refuse %s', (_, bytes) => {
    expect(() => apply(0, undefined, new Uint8Array(bytes))).toThrow(
      expect.objectContaining({ code: 'corrupted' }),
    )
  })
})

describe('recent words', () => {
  it('are as before where they go back to a mark, as often as one is made', () => {
    const words = fc.array(fc.integer({ min: 32, max: 99 }), { maxLength: 1_024 })
    fc.assert(
      fc.property(fc.array(fc.tuple(words, fc.boolean()), { maxLength: 12 }), (pages) => {
        const recent = new RecentWords()
        let model: number[] = []
        for (const [added, stays] of pages) {
          const mark = recent.mark()
          for (const value of added) recent.add(value)
          if (stays) model = [...added.toReversed(), ...model]
          else recent.goBack(mark)
          for (let n = 0; n < 33; n++) expect(recent.get(n)).toBe(n < 32 ? model[n] : undefined)
        }
      }),
      { numRuns: 50 },
    )
  })

  it('are the last 32 that are not small, the newest first', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(80), { maxLength: 2_000 }), (values) => {
        const recent = new RecentWords()
        for (const value of values) recent.add(value)
        const model = values
          .filter((value) => value >= 32)
          .reverse()
          .slice(0, 32)
        for (let n = 0; n < 40; n++) expect(recent.get(n)).toBe(model[n])
        for (let value = 0; value <= 80; value++) expect(recent.find(value)).toBe(model.indexOf(value))
        recent.clear()
        expect(recent.get(0)).toBeUndefined()
      }),
    )
  })
})
