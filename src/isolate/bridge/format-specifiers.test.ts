import { describe, expect, it } from 'vitest'
import { numberOf, replaceSpecifiers } from './format-specifiers.ts'

const replace = (text: string, ...shown: readonly string[]): string => {
  const left = [...shown]
  return replaceSpecifiers(text, (specifier) => {
    const next = left.shift()
    return next === undefined ? undefined : `${specifier}:${next}`
  })
}

describe('format specifiers', () => {
  it('take one argument each, in their order', () => {
    expect(replace('%s and %d, %o%O %c %i %f', 'a', '1', 'o', 'O', 'css', '2', '3')).toBe(
      's:a and d:1, o:oO:O c:css i:2 f:3',
    )
  })

  it('stay where nothing is left, and where nobody knows them', () => {
    expect(replace('%s %s %j %', 'a')).toBe('s:a %s %j %')
  })

  it('make a sign of two, which takes no argument', () => {
    expect(replace('%%s 100%% %s', 'a')).toBe('%s 100% s:a')
  })

  it('put in texts as they are', () => {
    expect(replaceSpecifiers('%s', () => '$& %d $1')).toBe('$& %d $1')
  })

  it('show whole numbers and others, and that something is none', () => {
    expect([numberOf('d', '42.9px'), numberOf('i', '-7'), numberOf('f', '1.50'), numberOf('d', 'x')]).toEqual(
      ['42', '-7', '1.5', 'NaN'],
    )
    expect(numberOf('f', undefined)).toBe('NaN')
  })
})
