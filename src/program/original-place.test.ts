import { describe, expect, it } from 'vitest'
import { originalError } from './original-error.ts'
import { originalPlace } from './original-place.ts'

/** Line 2 became longer: columns 5 to 6 of it are 5 to 15 in the code, and a line was put in before line 4. */
const places = [2, 5, 2, 5, 2, 16, 2, 7, 5, 1, 4, 1]

describe('the place in the source', () => {
  it.each([
    ['before anything moved', [1, 9], [1, 9]],
    ['in the line, before what moved', [2, 4], [2, 4]],
    ['at what was put in', [2, 5], [2, 5]],
    ['within what was put in: not beyond it', [2, 12], [2, 7]],
    ['behind it', [2, 20], [2, 11]],
    ['in a line further on', [3, 8], [3, 8]],
    ['where lines moved', [6, 3], [5, 3]],
  ])('%s', (_what, [line = 0, column = 0], [toLine, toColumn]) => {
    expect(originalPlace(places, { line, column })).toEqual({ line: toLine, column: toColumn })
  })

  it('of code that is the source is the same', () => {
    expect(originalPlace([], { line: 3, column: 4 })).toEqual({ line: 3, column: 4 })
  })

  it('is one, whatever the list says', () => {
    for (const list of [[1], [9, 9, 9], [1, 1, -5, -5], [Number.NaN, 1, 1, 1]]) {
      expect(originalPlace(list, { line: 2, column: 2 })).toHaveProperty('line')
    }
  })
})

describe('an error', () => {
  it('is moved with its stack and its causes, in the files that moved', () => {
    const stack = '    at f (a.ts:2:20)\n    at b.js:2:20\n    at native'
    const position = { file: 'a.ts', line: 2, column: 20 }
    const error = {
      name: 'Error',
      message: 'm',
      stack,
      position,
      cause: { name: 'Error', message: 'c', stack },
    }
    const moved = originalError(error, (file) => (file === 'a.ts' ? places : undefined))
    const movedStack = '    at f (a.ts:2:11)\n    at b.js:2:20\n    at native'
    expect(moved).toMatchObject({
      stack: movedStack,
      position: { line: 2, column: 11 },
      cause: { stack: movedStack },
    })
  })
})
