import { describe, expect, it } from 'vitest'
import { type ImportMap, Resolver } from './import-map.ts'

const resolver = new Resolver({
  imports: {
    a: './a.js',
    'a/': './a/',
    'a/b/': './ab/',
    './moved.js': './new/place.js',
    blocked: null,
    'open/': './open/',
    ['__proto__']: './proto.js',
  },
  scopes: {
    './old/': { a: './a-1.js' },
    './old/deep/': { a: './a-0.js', './old/deep/x.js': './y.js' },
    './one.js': { a: './only.js' },
  },
})
const names = (specifier: string, referrer = 'p.js'): string | undefined =>
  resolver.resolve(specifier, referrer).name

describe('an import map', () => {
  it.each([
    ['a', 'p.js', 'a.js'],
    ['a/x.js', 'p.js', 'a/x.js'],
    ['a/b/x.js', 'p.js', 'ab/x.js'],
    ['a', 'old/x.js', 'a-1.js'],
    ['a', 'old/deep/x.js', 'a-0.js'],
    ['a/x.js', 'old/x.js', 'a/x.js'],
    ['a', 'older/x.js', 'a.js'],
    ['a', 'one.js', 'only.js'],
    ['./moved.js', 'p.js', 'new/place.js'],
    ['../moved.js', 'x/p.js', 'new/place.js'],
    ['./x.js', 'old/deep/z.js', 'y.js'],
    ['__proto__', 'p.js', 'proto.js'],
    ['constructor', 'p.js', 'package:constructor'],
    ['other', 'p.js', 'package:other'],
    ['./other.js', 'x/p.js', 'x/other.js'],
  ])('%s in %s is %s', (specifier, referrer, name) => {
    expect(names(specifier, referrer)).toBe(name)
  })

  it('blocks what it maps to null, and what would lead above its address', () => {
    expect(resolver.resolve('blocked', 'p.js')).toMatchObject({
      code: 'denied',
      why: 'the import map blocks it',
    })
    expect(resolver.resolve('open/../secret.js', 'p.js')).toMatchObject({ code: 'denied' })
  })

  it.each([
    [{ imports: { a: 'https://x.y/z.js' } }, 'no path from the root'],
    [{ imports: { a: '../a.js' } }, 'no path from the root'],
    [{ imports: { a: '/a.js' } }, 'no path from the root'],
    [{ imports: { 'a/': './a.js' } }, 'does not end in /'],
    [{ imports: { a: 1 } }, 'no text'],
    [{ imports: { '': './a.js' } }, 'the key ""'],
    [{ imports: [] }, 'no object'],
    [{ scopes: { x: {} } }, 'no path from the root'],
    [{ import: {} }, 'imports and scopes are known'],
  ])('is refused where it is none: %j', (map, message) => {
    expect(() => new Resolver(map as unknown as ImportMap)).toThrow(message)
  })
})
