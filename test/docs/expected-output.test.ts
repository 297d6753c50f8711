import { describe, expect, it } from 'vitest'
import { comparable, expectedOutput } from './expected-output.ts'
import { markdownSnippets } from './markdown-snippet.ts'
import { tableRows } from './markdown-table.ts'

describe('expectedOutput', () => {
  it('takes the comments behind console.log, and no others', () => {
    const code = [
      'const n = 1 // not printed',
      'console.log(n) // 1',
      "  console.log('a // b') // a // b",
      'loop(() => console.log(n)) // 1 (2 times)',
      'for (const x of xs) console.log(x) // x / y',
      'console.log(silent)',
    ].join('\n')
    expect(expectedOutput(code)).toEqual(['1', 'a // b', '1', '1', 'x', 'y'])
  })
})

describe('comparable', () => {
  it('puts the pattern in the place of a line that matches it', () => {
    expect(comparable(['waits for 12 ms now'], ['waits … now'])).toEqual(['waits … now'])
    expect(comparable(['anything'], ['…'])).toEqual(['…'])
  })

  it('keeps lines that differ, lines too many, and lines in another order', () => {
    expect(comparable(['waits for ever'], ['waits … now'])).toEqual(['waits for ever'])
    expect(comparable(['completed 15'], ['completed 16'])).toEqual(['completed 15'])
    expect(comparable(['a', 'b', 'c'], ['b', 'a'])).toEqual(['a', 'b', 'c'])
    expect(comparable(['ab'], ['ab…b'])).toEqual(['ab'])
  })
})

describe('markdownSnippets', () => {
  it('gives place, language and note of each block', () => {
    const page = ['text', '```ts', 'a', '```', '', '```sh no-run because of b', 'c', 'd', '```'].join('\n')
    expect(markdownSnippets('p.md', page)).toEqual([
      { place: 'p.md:3', language: 'ts', note: '', code: 'a' },
      { place: 'p.md:7', language: 'sh', note: 'no-run because of b', code: 'c\nd' },
    ])
  })

  it('refuses a block without an end', () => {
    expect(() => markdownSnippets('p.md', '```ts\na')).toThrow('p.md:1')
  })
})

describe('tableRows', () => {
  it('gives the rows below a heading without the head', () => {
    const page = '## A\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n## B\n\n| z |\n|---|\n| 3 |\n'
    expect(tableRows(page, 'A')).toEqual([['1', '2']])
    expect(() => tableRows(page, 'C')).toThrow('no heading "C"')
  })
})
