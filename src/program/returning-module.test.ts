import { describe, expect, it } from 'vitest'
import { withReturn } from './returning-module.ts'

/** As the parser of an engine would say it of these sources. */
const parses = (code: string): boolean => !/^(?:return|[ ]{2}if)/m.test(code) || code.startsWith(';export')

describe('a program that imports and returns', () => {
  it('returns from its default export, and nothing moves', () => {
    const source =
      "import a, { b } from './a.js'\nimport {\n  c,\n} from \"./c.js\" with { type: 'json' };\nreturn a"
    expect(withReturn(source, parses)).toBe(
      "import a, { b } from './a.js'\nimport {\n  c,\n} from \"./c.js\" with { type: 'json' };" +
        ';export default async function (input) {\nreturn a\n}',
    )
  })

  it.each([
    ['that parses as it is', "import a from './a.js'\nfunction f() {\n    return 1\n}"],
    ['with a default export', "import a from './a.js'\nexport default 1\nreturn a"],
    ['without an import', 'return 1'],
    ['that only calls import', "const { a } = await import('./a.js')\nreturn a"],
    ['whose import never ends', 'import a\nreturn 1'],
  ])('one %s is left as it is', (_, source) => {
    expect(withReturn(source, parses)).toBe(source)
  })

  it('is found fast in a hostile source', () => {
    for (const part of ['import\n', 'import a ', "import '\n", 'import {']) {
      const source = `${part.repeat(1e5)}return 1`
      expect(withReturn(source, () => false)).toBe(source)
    }
  })
})
