import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { classify, programName, resolvePath } from './specifier.ts'

const segment = fc.oneof(
  fc.constantFrom('.', '..', 'a', 'b.js', '__proto__', 'constructor', ' x', 'ü', '...', '.x'),
  fc.stringMatching(/^[\w@~!$&'()*+,;= -]{1,6}$/),
)
const path = fc
  .tuple(fc.constantFrom('./', '../', '../../'), fc.array(segment, { minLength: 1, maxLength: 6 }))
  .map(([start, segments]) => start + segments.join('/'))
const referrer = fc
  .array(
    segment.filter((part) => part !== '.' && part !== '..'),
    { minLength: 1, maxLength: 4 },
  )
  .map((segments) => segments.join('/'))

/** What the URL standard makes of it, far below its root, so that leading out of ours can be seen. */
function byUrl(specifier: string, from: string): string | undefined {
  const root = 'file:///0/1/2/3/4/5/6/7/8/9/root/'
  const base = new URL(from.split('/').map(encodeURIComponent).join('/'), root)
  const { href } = new URL(specifier, base)
  return href.startsWith(root) ? decodeURIComponent(href.slice(root.length)) : undefined
}

describe('where a path leads', () => {
  it('is where a URL does, unless it leads out of the root or to a folder (property)', () => {
    fc.assert(
      fc.property(path, referrer, (specifier, from) => {
        fc.pre(classify(specifier).kind === 'path' && specifier === specifier.trimEnd())
        const expected = byUrl(specifier, from)
        const { name } = resolvePath(specifier, from)
        if (name === undefined) {
          const folder = /(?:^|\/)\.{0,2}$/.test(specifier)
          expect(folder || leadsOut(specifier, from)).toBe(true)
        } else expect(name).toBe(expected)
      }),
      { numRuns: 2_000 },
    )
  })

  it('is a name that lies within the root, spelt in one way (property)', () => {
    fc.assert(
      fc.property(path, referrer, (specifier, from) => {
        const { name } = resolvePath(specifier, from)
        if (name === undefined) return
        expect(name.split('/').some((part) => part === '' || part === '.' || part === '..')).toBe(false)
        expect(resolvePath(`./${name}`, '').name).toBe(name)
      }),
      { numRuns: 1_000 },
    )
  })

  it.each([
    ['./b.js', 'a.js', 'b.js'],
    ['../b.js', 'x/a.js', 'b.js'],
    ['./x/./y/../b.js', 'a.js', 'x/b.js'],
    ['./__proto__', 'a.js', '__proto__'],
  ])('%s in %s is %s', (specifier, from, name) => {
    expect(resolvePath(specifier, from)).toEqual({ name })
  })
})

describe('a specifier', () => {
  it.each([
    'https://x.y/z.js',
    'file:///a',
    'data:text/javascript,1',
    'C:/a.js',
    'node:fs',
    '/a.js',
    '//host/a.js',
    '\\a.js',
    './a\\..\\b.js',
    './a%2fb.js',
    './a.js?x',
    './a.js#x',
    './a\0.js',
    './a\n.js',
    '\ud800',
    '',
    'a/../b',
    'a//b',
    'x'.repeat(1_025),
  ])('is refused: %j', (specifier) => {
    expect(classify(specifier)).toMatchObject({ kind: 'refused', code: 'denied' })
  })

  it('of a program is the last part of a path that is not in the root', () => {
    const names = ['p.js', 'lib/p.js', '/home/x/p.js', 'C:\\x\\p.js', '../p.js', './p.js', 'a/../p.js']
    expect(names.map(programName)).toEqual(['p.js', 'lib/p.js', 'p.js', 'p.js', 'p.js', 'p.js', 'p.js'])
  })
})

function leadsOut(specifier: string, from: string): boolean {
  let depth = from.split('/').length - 1
  for (const part of specifier.split('/')) {
    if (part === '..') depth -= 1
    else if (part !== '.' && part !== '') depth += 1
    if (depth < 0) return true
  }
  return false
}
