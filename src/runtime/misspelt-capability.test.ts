import { describe, expect, it } from 'vitest'
import { misspeltCapability } from './misspelt-capability.ts'

const GRANTED = ['prices.lookup', 'prices.list', 'bank.accounts.pay']
const WITHHELD = ['prices.remove', 'stock.count']
const hint = (source: string, column: number, message = 'not a function', name = 'TypeError'): unknown =>
  misspeltCapability(
    { name, message, position: { file: 'p.js', line: 1, column } },
    source,
    GRANTED,
    WITHHELD,
  )

describe('a member that is no capability', () => {
  it.each([
    ['a misspelt one', "await prices.lokup({ sku: 'A' })", 19, 'prices.lokup', 'did you mean prices.lookup?'],
    ['spread out', 'await prices ?. Lookup ()', 24, 'prices.Lookup', 'did you mean prices.lookup?'],
    ['in a namespace', 'bank.acounts.pay(1)', 13, 'bank.acounts.pay', 'did you mean bank.accounts.pay?'],
    [
      'none like it',
      'prices.convert()',
      15,
      'prices.convert',
      'there are prices.lookup, prices.list, prices.remove.',
    ],
    [
      'one that was not granted',
      'prices.remov()',
      13,
      'prices.remov',
      'did you mean prices.remove? It has to be granted, too.',
    ],
    ['the only one', 'stock.everything()', 17, 'stock.everything', 'there is stock.count.'],
  ])('%s', (_, source, column, written, text) => {
    expect(hint(source, column)).toBe(`${written} is no capability; ${text}`)
  })

  it.each([
    ['a capability', 'prices.lookup()', 14],
    ['a member of one', 'prices.lookup.twice()', 20],
    ['of another object', 'my.prices.lokup()', 16],
    ['elsewhere in the line', 'f(prices.lokup); x()', 19],
    ['of a namespace that nobody has', 'tools.lokup()', 12],
  ])('is none: %s', (_, source, column) => {
    expect(hint(source, column)).toBeUndefined()
  })

  it('is looked for after errors that say so alone, and costs little', () => {
    expect(hint('prices.lokup()', 13, 'sku is missing')).toBeUndefined()
    expect(hint('prices.lokup()', 13, 'not a function', 'Error')).toBeUndefined()
    expect(hint(` ${'prices . '.repeat(100_000)}`, 400_000)).toBeUndefined()
  })
})
