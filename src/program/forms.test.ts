import { describe, expect, it } from 'vitest'
import { programAttempts } from './forms.ts'

const formsOf = (source: string): readonly string[] => programAttempts(source, 'auto').map(({ form }) => form)

describe('the forms that are tried', () => {
  it.each([
    ['1 + 1', ['script']],
    ['return 1', ['script', 'body']],
    ['async () => { return 1 }', ['script', 'body']],
    ['#!/usr/bin/env caisson\nreturn 1', ['script', 'body']],
    ['function f() {}', ['script', 'script']],
    ['function f() {}\nf()', ['script']],
    ['functions = {}', ['script']],
    ['export default 1', ['module']],
    ['const a = 1\nexport { a }', ['module']],
    ['import("x")', ['script']],
    ['import.meta', ['script']],
  ])('%j', (source, forms) => {
    expect(formsOf(source)).toEqual(forms)
  })

  it('keep a line for the shell as long as it was', () => {
    const source = '#!/usr/bin/env caisson\nreturn 1'
    const [body] = programAttempts(source, 'body')
    expect(body?.code.slice(body.columnShift)).toMatch(/^\/\/\/usr\/bin\/env caisson\nreturn 1\n/)
    expect(programAttempts(source, 'script')[0]?.code).toBe(source)
  })
})
