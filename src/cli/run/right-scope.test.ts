import { describe, expect, it } from 'vitest'
import { countDirectories, scopeOf, scopeTexts, scopeWithin } from './right-scope.ts'

describe('what rights reach', () => {
  const scope = scopeOf(
    new Map([
      ['/out', { writable: true }],
      ['/in', { writable: false }],
    ]),
    ['API.example.com', 'api.example.com'],
  )

  it('is one text for each thing, and what may be written may be read (invariant 2)', () => {
    expect(scope).toEqual(['write /out', 'read /out', 'read /in', 'net api.example.com'])
    expect(countDirectories(scope)).toBe(2)
    expect(scopeTexts(scope)).toEqual(['write /out', 'read /in', 'net api.example.com'])
  })

  it.each([
    ['net a.example.com', 'net *.example.com', true],
    ['net *.a.example.com', 'net *.example.com', true],
    ['net a.example.com:8443', 'net *.example.com', false],
    ['net a.example.com:8443', 'net *.example.com:8443', true],
    ['net example.com', 'net *.example.com', false],
    ['net evilexample.com', 'net *.example.com', false],
    ['net *.example.com', 'net a.example.com', false],
    ['net b.example.com', 'net a.example.com', false],
    ['read /in/a.example.com', 'net *.example.com', false],
  ])('%s is within %s: %s', (given, before, within) => {
    expect(scopeWithin([given], [before])).toEqual([within ? before : given])
  })
})
