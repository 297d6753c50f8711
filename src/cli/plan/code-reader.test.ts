import { afterEach, describe, expect, it } from 'vitest'
import { CodeReader } from './code-reader.ts'

let reader: CodeReader
afterEach(() => reader.close())

const SPENT = [{ problem: expect.stringContaining('took all the fuel that a check has') }]
/** Regular expressions are what parses slowest. */
const costly = (i: number): string =>
  `return [${Array.from({ length: 60 }, (_, j) => `/[a-z]+(b|c)*${i}x${j}/u`).join()}]`

describe('the budget of a check', () => {
  it('is one for all code, and says once that it is spent', async () => {
    reader = new CodeReader(40_000_000)
    const found = []
    for (let i = 0; i < 40; i += 1) found.push(...(await reader.check({ source: costly(i) })))
    for (let i = 0; i < 40; i += 1) found.push(...(await reader.checkExpression(`a + ${i}`, ['a'])))
    expect(found).toMatchObject(SPENT)
  })

  it('is spent by many small expressions too', async () => {
    reader = new CodeReader(6_000_000)
    const found = []
    for (let i = 0; i < 3; i += 1) found.push(...(await reader.checkExpression(`a + ${i}`, ['a'])))
    expect(found).toEqual([])
    expect(await reader.checkExpression('a + 3', ['a'])).toMatchObject(SPENT)
  })

  it('takes nothing for right that it has no fuel for', async () => {
    // Looked at twice: as it stands, and as an expression.
    const source = 'function (a) { return a }'
    for (const fuel of [2_000_000, 4_000_000]) {
      reader = new CodeReader(fuel)
      expect(await reader.checkExpression('1', [])).toEqual([])
      expect(await reader.check({ source })).toMatchObject(SPENT)
      await reader.close()
    }
    reader = new CodeReader(6_000_000)
    expect(await reader.checkExpression('1', [])).toEqual([])
    expect(await reader.check({ source })).toEqual([])
  })

  it('is not spent again by what is the same', async () => {
    reader = new CodeReader(6_000_000)
    for (let i = 0; i < 10; i += 1) {
      expect(await reader.check({ source: 'return 1' })).toEqual([])
      expect(await reader.checkExpression('a', ['a'])).toEqual([])
    }
    // Other values, other code.
    expect(await reader.checkExpression('a', ['a', 'b'])).toEqual([])
    expect(await reader.check({ source: 'return 1', modules: { './m.js': '' } })).toMatchObject(SPENT)
  })
})
