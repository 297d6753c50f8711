import { describe, expect, it } from 'vitest'
import { transpileInHost } from './transpile-in-host.testkit.ts'

/** What is refused, with the text at which it is, marked by `→`, and what the message names. */
const REFUSED: readonly (readonly [source: string, says: RegExp])[] = [
  ['→namespace A { export const x = 1 }', /"namespace A" holds values.*use a module/],
  ['→module A { f() }', /"module A" holds values/],
  ['export →namespace A { let x }', /"namespace A" holds values/],
  ['→namespace A { type B = 1; namespace C { enum D { E } } }', /"namespace A" holds values/],
  ['→namespace A.B { export class C {} }', /"namespace A" holds values/],
  ['→@d class A {}', /decorators are not supported.*call the decorator as a function/],
  ['class A { →@d() m() {} }', /decorators/],
  ['class A { constructor(→@d x) {} }', /decorators|unexpected token/],
  ['→using a = b', /"using" is not supported.*try and finally/],
  ['→await using a = b', /"await using" is not supported/],
  ['for (→using a of b) {}', /"using" is not supported/],
  ['for await (→using a of b) {}', /"using" is not supported/],
  ['class A { →accessor x = 1 }', /"accessor" fields.*getter and a setter/],
  ['class A { static →accessor #x = 1 }', /"accessor" fields/],
  ['→import a = require("b")', /of CommonJS: write "import a from "b""/],
  ['→import a = b.c', /"import x = a\.b" is not supported: write "const a = \.\.\."/],
  ['→export = 3', /of CommonJS: write "export default"/],
  ['→export import a = b', /"export import" is not supported/],
  ['class A { constructor(→private { x }) {} }', /must be a name/],
  ['class A extends B { constructor(private x) →{ if (x) super() } }', /super\(\.\.\.\) in a statement/],
  ['enum A { X = "x", →Y }', /enum member Y follows a text/],
  ['const a = →<div>b</div>', /JSX is not supported/],
  ['const a = →<A b={1} c="d" />', /JSX is not supported/],
  ['const a = →<><b/></>', /JSX is not supported/],
]

const DOES_NOT_PARSE: readonly (readonly [source: string, says: string])[] = [
  ['let a: →= 1', "unexpected token: '='"],
  ['let a: number =→', 'unexpected end of the program'],
  ['class A { constructor(private x→', 'unexpected end of the program'],
  ['f(a as →)', "unexpected token: ')'"],
  ['let a: number = 1 →let b', 'unexpected token: \'let\', expected ";"'],
]

describe('what has no counterpart', () => {
  it.each(REFUSED)('%s is refused by name, where it stands', (marked, says) => {
    const index = marked.indexOf('→')
    expect(transpileInHost(marked.replace('→', ''))).toEqual({ message: expect.stringMatching(says), index })
  })

  it.each([
    'using(a); using[0]; using = 1; let using',
    'class A { accessor: T; accessor() {} }',
    'class A { accessor\nx() {} }',
    'namespace\n(0)',
    'a <b / 2 > c',
  ])('%s is only like it', (source) => {
    expect(transpileInHost(source)).toHaveProperty('code')
  })
})

describe('what does not parse', () => {
  it.each(DOES_NOT_PARSE)('%s', (marked, message) => {
    const index = marked.indexOf('→')
    expect(transpileInHost(marked.replace('→', ''))).toEqual({ message, index })
  })
})
