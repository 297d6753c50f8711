import { describe, expect, it } from 'vitest'
import { missingGrants, missingGrantsText } from './missing-grants.ts'

const WITHHELD = ['prices.lookup', 'prices.list', 'bank.accounts.pay', 'stock.a']
const at = (line: number, column: number): object => ({ position: { file: 'p.js', line, column } })

describe('missing grants', () => {
  it.each([
    ['a namespace that is not there', 'await prices.lookup()', 1, 7, 'ReferenceError', ['prices.lookup']],
    ['a member that is not there', 'await prices.lookup({})', 1, 20, 'TypeError', ['prices.lookup']],
    ['spread over lines', 'await prices\n  ?. lookup\n  ({})', 3, 3, 'TypeError', ['prices.lookup']],
    ['a namespace in a namespace', 'bank.accounts.pay(1)', 1, 14, 'TypeError', ['bank.accounts.pay']],
    ['behind an astral character', '"😀", prices.list()', 1, 17, 'TypeError', ['prices.list']],
    ['another of the same line', 'f(prices.lookup); x()', 1, 20, 'TypeError', []],
    ['a longer name', 'my.prices.lookup()', 1, 17, 'TypeError', []],
    ['the beginning of a name', 'stock.about()', 1, 12, 'TypeError', []],
    ['another error', 'await prices.lookup()', 1, 7, 'RangeError', []],
  ])('%s', (_, source, line, column, name, names) => {
    expect(missingGrants({ name, message: 'm', ...at(line, column) }, source, WITHHELD)).toEqual(names)
  })

  it('are those of the namespace where the member cannot be seen', () => {
    const error = { name: 'ReferenceError', message: "'prices' is not defined", ...at(1, 19) }
    expect(missingGrants(error, 'const { lookup } = prices', WITHHELD)).toEqual([
      'prices.lookup',
      'prices.list',
    ])
    expect(
      missingGrants({ name: 'ReferenceError', message: "'prices' is not defined" }, '', WITHHELD),
    ).toHaveLength(2)
    expect(missingGrants({ ...error, message: "'files' is not defined" }, 'x', WITHHELD)).toEqual([])
  })

  it('of a lying error cost little', () => {
    const source = ` ${'prices . '.repeat(100_000)}`
    const error = { name: 'TypeError', message: 'm', ...at(1, 400_000) }
    expect(missingGrants(error, source, WITHHELD)).toEqual([])
    expect(missingGrants({ ...error, ...at(2 ** 53, 2 ** 53) }, source, WITHHELD)).toEqual([])
  })

  it('are said without how to grant', () => {
    expect(missingGrantsText([])).toBeUndefined()
    expect(missingGrantsText(['a.b'])).toBe('a.b exists and this guest has no grant for it')
    expect(missingGrantsText(['a.b', 'a.c'])).toBe('a.b, a.c exist and this guest has no grants for them')
  })
})
