import { describe, expect, it } from 'vitest'
import { attributesIn, attributeType } from './import-attributes.ts'

describe('what follows a specifier in a source', () => {
  it('is found by the specifier, the first of each', () => {
    const source = [
      `import a from './a.json' with { type: 'json' }`,
      `import b from "it's.json" assert{type:"json"}`,
      `import './c.js'`,
      `export * from './d.js' with {}`,
      `import './a.json' with { type: 'css' }`,
    ].join('\n')
    expect([...attributesIn(source)]).toEqual([
      ['./a.json', " type: 'json' "],
      ["it's.json", 'type:"json"'],
      ['./d.js', ''],
    ])
  })

  it('is nothing where no text begins, or one of more than a specifier may have', () => {
    expect([...attributesIn(`' with {a}`), ...attributesIn(`'${'x'.repeat(2_000)}' with {a}`)]).toEqual([])
  })
})

describe('what attributes ask for', () => {
  it.each([
    [undefined, 'any'],
    [' ', 'any'],
    [` type: 'json', `, 'json'],
    [`"type": "json"`, 'json'],
    [`type: 'css'`, 'unknown'],
    [`a: 'json'`, 'unknown'],
  ] as const)('%j: %s', (attributes, type) => {
    expect(attributeType(attributes)).toBe(type)
  })
})
