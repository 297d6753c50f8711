import { describe, expect, it } from 'vitest'
import { compareFiles, filesBelow } from './corpus.testkit.ts'

// All of them, and others: corpus.long.test.ts.
const EVERY = 8

describe('files of this repository', () => {
  it('become the same programs as by oxc, line by line', () => {
    const files = filesBelow('src').filter((_, i) => i % EVERY === 0)
    const { same, others } = compareFiles(files)
    // `await using` is refused by name.
    expect(others.filter((other) => !other.endsWith(': refused'))).toEqual([])
    expect(same).toBeGreaterThan(30)
  })
})
