import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { indexOfPlace, placeOfIndex } from './source-place.ts'

describe('places in a source', () => {
  const source = 'const s = "😀" + a\r\n\tb\u2028c\n'

  it.each([
    [1, 1, 'c'],
    [1, 17, 'a'],
    [2, 2, 'b'],
    [2, 4, 'c'],
  ])('line %d, column %d', (line, column, character) => {
    expect(source[indexOfPlace(source, { line, column })]).toBe(character)
  })

  it('behind the source are its end', () => {
    for (const place of [
      { line: 1, column: 99 },
      { line: 99, column: 1 },
    ]) {
      expect(indexOfPlace('ab', place)).toBe(2)
    }
  })

  it('are found in a line of megabytes', () => {
    const long = `${'x'.repeat(8e6)}😀(`
    expect(placeOfIndex(long, long.length)).toEqual({ line: 1, column: 8e6 + 3 })
    expect(indexOfPlace(long, { line: 1, column: 8e6 + 2 })).toBe(8e6 + 2)
  })

  it('are those of their index (property)', () => {
    const part = fc.constantFrom('a', '\n', '😀', '\r\n', 'é')
    fc.assert(
      fc.property(fc.array(part), fc.array(part), (before, after) => {
        const text = before.join('')
        const whole = text + after.join('')
        expect(indexOfPlace(whole, placeOfIndex(whole, text.length))).toBe(text.length)
      }),
    )
  })
})
