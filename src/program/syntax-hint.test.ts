import { describe, expect, it } from 'vitest'
import { syntaxHint } from './syntax-hint.ts'

const hint = (source: string, line = 1, message = 'unexpected token', file = 'p.js'): string | undefined =>
  syntaxHint({ name: 'SyntaxError', message, position: { file, line, column: 1 } }, source)

describe('the hint after a syntax error', () => {
  it('says that a line is prose', () => {
    for (const line of [
      'Here is the program that you asked for:',
      'Sure, this works.',
      "It's simple: add the numbers and print them",
      '## How to use this program',
      'This adds two numbers and shows them.',
    ]) {
      expect(hint(`1 + 1\n${line}`, 2), line).toContain('reads like prose')
    }
    for (const line of [
      'const a b',
      'return a b c d',
      'foo(a b c d)',
      'a = b c d e',
      'x y',
      'new Foo bar baz qux',
    ]) {
      expect(hint(line), line).toBeUndefined()
    }
  })

  it('says that a file is TypeScript', () => {
    expect(hint('let v2, v3: string')).toContain('let the name end in .ts')
    expect(hint('let v2, v3: string', 1, 'unexpected token', 'p.ts')).toBeUndefined()
    expect(hint('let v2, v3 = ;')).toBeUndefined()
  })

  it('says what to write instead of return', () => {
    const message = 'return not in a function'
    expect(hint("import a from './a.js'\nif (a) return 1", 2, message)).toContain('export default VALUE')
    expect(hint('return 1', 1, message)).toContain('without `return`')
  })

  it('is none for other errors, and without a place', () => {
    expect(syntaxHint({ name: 'SyntaxError', message: 'm' }, 'This is not a program')).toBeUndefined()
    expect(
      syntaxHint(
        { name: 'Error', message: 'm', position: { file: 'a', line: 1, column: 1 } },
        'This is no program',
      ),
    ).toBeUndefined()
  })

  it('is found fast in a hostile line', () => {
    for (const part of ['a ', "a'", 'a-', '- ', 'a, ', 'a.'])
      expect(hint(part.repeat(199))).toSatisfy(() => true)
  })
})
