import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { unfence } from './code-fence.ts'

const answer = (...blocks: readonly string[]): string =>
  `Here is the program:\n\n${blocks.join('\n\nand\n\n')}\n\nIt adds.`

describe('a program in a fence', () => {
  it('keeps its lines', () => {
    const { source, language } = unfence(answer('```js\nconst a = 1\na + 1\n```'))
    expect(source).toBe('\n\n\nconst a = 1\na + 1')
    expect(language).toBe('js')
  })

  it('is the largest one of a language of ours', () => {
    const text = answer(
      '```bash\nnpm install something-with-a-long-name --save-exact\n```',
      '```ts\na\n```',
      '```ts\nlonger\n```',
    )
    expect(unfence(text)).toEqual({ source: expect.stringMatching(/^\n*longer$/), language: 'ts' })
  })

  it('may be cut off at its end, and hold shorter fences', () => {
    expect(unfence('````js\nconst s = "```"\n```\nf(').source).toBe('\nconst s = "```"\n```\nf(')
  })

  it('says nothing of its language where it says nothing', () => {
    expect(unfence('```\r\n1 + 1\r\n```\r\n')).toEqual({ source: '\n1 + 1\r' })
  })

  it('is told where it says another language, and holds nothing that may be ours', () => {
    const text = answer('```bash\nls\n```', '```Python\nprint("a longer one")\n```')
    expect(unfence(text)).toEqual({ source: text, foreign: { language: 'python', line: 9 } })
    expect(unfence(answer('```pseudocode\n1 + 1\n```')).source).toMatch(/^\n+1 \+ 1$/)
  })

  it('is none in a comment', () => {
    const source = '/**\n```js\nf()\n```\n*/\nfunction f() {}\n/* a */ /*\n```\nx\n```\n*/'
    expect(unfence(source)).toEqual({ source })
  })

  it('never moves a line (property)', () => {
    const line = fc.constantFrom('```js', '```', 'a', ' b', '/*', '*/', '')
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const { source } = unfence(lines.join('\n'))
        for (const [i, one] of source.split('\n').entries()) expect([lines[i] ?? '', '']).toContain(one)
      }),
    )
  })
})
