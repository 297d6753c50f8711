import { describe, expect, it } from 'vitest'
import { meantModules } from './meant-module.ts'

const meantFor = (specifier: string, path: string, there: string): string | undefined =>
  meantModules(specifier, path).find(([name]) => name === there)?.[1]

describe('what may be meant by an import that leads nowhere', () => {
  it.each([
    ['./a', 'lib/a', 'lib/a.js', './a.js'],
    ['../a', 'a', 'a.ts', '../a.ts'],
    ['./a', 'a', 'a/index.ts', './a/index.ts'],
    ['./a.js', 'a.js', 'a.ts', './a.ts'],
    ['./a.mts', 'a.mts', 'a.mjs', './a.mjs'],
    ['a.js', 'a.js', 'a.js', './a.js'],
    ['a', 'a', 'a.json', './a.json'],
  ])('%s, which leads to %s, where there is %s', (specifier, path, there, written) => {
    expect(meantFor(specifier, path, there)).toBe(written)
  })

  it('is never what was written', () => {
    for (const specifier of ['./a.js', './a', 'a']) {
      expect(meantModules(specifier, 'a').map(([, written]) => written)).not.toContain(specifier)
    }
  })
})
