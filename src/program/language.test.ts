import { describe, expect, it } from 'vitest'
import { languageOf } from './language.ts'

describe('the language of a source', () => {
  it('is what its author says, then what the name of the file says', () => {
    expect(languageOf('1', 'ts', 'a.js')).toBe('ts')
    expect(languageOf('let a: b', 'js', 'a.ts')).toBe('js')
    for (const name of ['a.ts', 'a.mts', 'a.CTS', 'a.tsx']) expect(languageOf('1', 'auto', name)).toBe('ts')
    for (const name of ['a.js', 'a.mjs', 'a.cjs']) expect(languageOf('let a: b', 'auto', name)).toBe('js')
  })

  it.each([
    'interface A { b: c }',
    'export type A = string',
    'type A = string',
    'declare const a: b',
    'enum A { B }',
    'const enum A { B }',
    'namespace A {}',
    'abstract class A {}',
    'import type { A } from "b"',
    'import { a, type B } from "c"',
    'const a: string = b',
    'let a!: string',
    'let a, b: string',
    'let a = 1,\n  b, c: string',
    'const { a }: B = c',
    'const f = (a: string) => a',
    'function f(a, b?: number) {}',
    'const f = async (...a: any[]) => a',
    'const f = (a): string => a',
    'a as string',
    'const a = { b: 1 } as const',
    'a satisfies B',
    'const f = <T,>(a) => a',
    'const f = <T extends U>(a) => a',
    'class A { private b = 1 }',
    'class A { readonly b = 1 }',
    'class A implements B {}',
    'class A {\n  b: string;\n}',
    'a!.b',
    'a![0]',
  ])('may be TypeScript: %s', (source) => {
    expect(languageOf(source, 'auto', undefined)).toBe('unsure')
  })

  it.each(['f<string>(a)', 'new Map<string, number[]>()', 'a.b<C.D>(e)'])(
    'is TypeScript, though it parses as JavaScript: %s',
    (source) => {
      expect(languageOf(source, 'auto', undefined)).toBe('ts')
    },
  )

  it.each([
    'const a = await files.read("x"); return JSON.parse(a).b',
    'const a = { b: 1, c: [2] }; for (const d of a.c) console.log(d < 1, d > 2)',
    'export default async (input) => input.a ? input.b : input.c',
    'if (!a) throw new Error("no"); a != b && c !== d',
    'const f = (a, b = 1) => ({ a, b })',
    'import a from "b"\nexport { a as b }',
  ])('is JavaScript without a further look: %s', (source) => {
    expect(languageOf(source, 'auto', undefined)).toBe('js')
  })

  it('is found fast in a hostile source', () => {
    const hostile = [
      '<'.repeat(2e5),
      'a<'.repeat(1e5),
      '(a'.repeat(1e5),
      'let a'.repeat(4e4),
      'let a,'.repeat(4e4),
      `let ${'a = b, '.repeat(4e4)}`,
      '{type '.repeat(4e4),
    ]
    for (const source of [
      ...hostile,
      ' '.repeat(1e6),
      'a'.repeat(1e6),
      '\n'.repeat(1e6),
      `(${' \n'.repeat(2e5)}`,
    ]) {
      expect(['js', 'unsure']).toContain(languageOf(source, 'auto', undefined))
    }
  })
})
