import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatQuantity } from './quantity.ts'
import { type Column, tableLines, wrap } from './table.ts'

const COLUMNS: readonly Column[] = [
  { title: 'subject', align: 'left' },
  { title: 'median', align: 'right' },
]
const ROWS = [
  ['caisson', '9 ns'],
  ['other', '1,000 ns'],
]

describe('table', () => {
  it('aligns columns where the line is wide enough', () => {
    expect(tableLines(COLUMNS, ROWS, 80)).toEqual([
      'subject    median',
      'caisson      9 ns',
      'other    1,000 ns',
    ])
  })

  it('becomes blocks where it is not', () => {
    expect(tableLines(COLUMNS, ROWS, 16)).toEqual([
      'caisson',
      '  median: 9 ns',
      'other',
      '  median: 1,000',
      '  ns',
    ])
  })

  it('never exceeds the width while one word fits', () => {
    const word = fc.stringMatching(/^[a-z]{1,12}$/)
    const cell = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(' '))
    fc.assert(
      fc.property(
        fc.array(fc.tuple(cell, cell), { minLength: 1 }),
        fc.integer({ min: 14, max: 100 }),
        (rows, width) => {
          for (const line of tableLines(COLUMNS, rows, width)) expect(line.length).toBeLessThanOrEqual(width)
        },
      ),
    )
  })

  it('wraps at spaces and indents', () => {
    expect(wrap('one two three', 9, '  ')).toEqual(['  one two', '  three'])
    expect(wrap('', 9)).toEqual([])
  })
})

describe('quantities', () => {
  it('keep three digits and a unit that makes them short', () => {
    expect(formatQuantity(0, 'ns')).toBe('0.00 ns')
    expect(formatQuantity(49, 'ns')).toBe('49.0 ns')
    expect(formatQuantity(12_345, 'ns')).toBe('12.3 us')
    expect(formatQuantity(2_490_000, 'ns')).toBe('2.49 ms')
    expect(formatQuantity(3e9, 'ns')).toBe('3.00 s')
    expect(formatQuantity(380 * 1024, 'bytes')).toBe('380 KiB')
  })
})
