import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { oxcJavascriptOf } from './oxc-javascript.testkit.ts'
import { programOf } from './same-program.testkit.ts'
import { javascriptOf, transpileInHost } from './transpile-in-host.testkit.ts'

const ERASED: Readonly<Record<string, string>> = {
  annotations: 'let x: number = 1, y: string | undefined, [z]: [number] = [1], { a, b }: T = c',
  'definite assignment': 'let x!: number; class A { y!: string; z?: number }',
  'parameters and results': 'function f(a: string, b?: number, ...c: any[]): asserts a is string { return }',
  'a this parameter': 'function f(this: Foo, a: string) {} const o = { m(this: Foo) {} }',
  'arrow generics': 'const f = <T,>(x: T) => x, g = <T extends U>(x: T): T => x, h = async <T>(x: T) => x',
  'parenthesised union parameters': 'const f = (x: (string | number)[], y: ((a: A) => B) | null) => x',
  'function types': 'let f: (a: string) => void, g: new (x: A) => B, h: abstract new () => C',
  'return types of arrows': 'const f = (x): { a: 1 } => ({ a: 1 }), g = (x): x is string => true',
  'conditionals with parentheses': 'const a = x ? (b) : c => d, e = f ? (g): h => i : j',
  'conditional, mapped and template types':
    // biome-ignore lint/suspicious/noTemplateCurlyInString: of the language that is read
    'type A<T> = T extends infer U extends string ? `a${U}` : { readonly [K in keyof T]?: T[K] }',
  assertions: 'const a = <any>b, c = <const>["x"], d = e as unknown as F, g = { h: 1 } as const',
  satisfies: 'const a = { b: 1 } satisfies C, d = (e satisfies F).g',
  'non-null': 'a!.b!.c![0]!(d!) ; e?.f!.g; (h?.i)!.j; k! = l',
  'calls and instances with types':
    'f<T>(x); new Map<string, Array<number>>(); a?.b<T>(); tag<T>`x`; const g = f<T>',
  'comparisons that look like types': 'f(a < b, c >= d); a < b || c > (d); x = a<b>>c; y = i < (j >> 2)',
  'regular expressions after types': 'let x: number\n/a/g.test(y); type T = A\n/b/.exec(z)',
  'interfaces and aliases':
    'interface A<T> extends B<T> { (x: T): void; new (y): A; z?(): string }\ntype C = A<B>',
  overloads: 'function f(x: string): void\nfunction f(x: number): void\nfunction f(x: any) { return x }',
  'overloads that are exported': 'export default function f(): void;\nexport default function f(x?: any) {}',
  'classes and what they implement': 'class A<T> extends B<T> implements C, D<T> { x: T = 1 as T }',
  modifiers:
    'class A { public a = 1; private static readonly b = 2; protected override async *c() {} readonly d }',
  'abstract members':
    'abstract class A { abstract x: number; abstract get y(): T; abstract z(): void; w() {} }',
  'declared fields and index signatures':
    'class A { declare x: number; [key: string]: any; static [k: number]: 1; y }',
  'method overloads': 'class A { m(x: string): void; m(x: number): void; m(x: any) {} static n?(): void {} }',
  'getters and fields with names of modifiers':
    'class A { get x(): T { return 1 } declare; abstract = 1; readonly }',
  'ambient declarations':
    'declare const a: number; declare function f(): void; declare class A {}\ndeclare module "m" {}',
  'ambient global': 'declare global { interface Window { x: 1 } }\ndeclare namespace N { const x: 1 }; f()',
  'namespaces of types': 'namespace A { export type B = 1; interface C {} namespace D { type E = 2 } }\nf()',
  'type imports': 'import type { A } from "a"; import type B from "b"; import type * as C from "c"; f()',
  'imports that are types to the file':
    'import { a, type B, C } from "m"; import D, { E } from "n"; let x: C = a(D as E)',
  'a default import that is a type': 'import A, { b } from "m"; import C, * as D from "n"; b(C) as A',
  'imports that are shadowed': 'import { a, b } from "m"; function f(a: any) { return a } f(b)',
  'imports for effects': 'import "a"; import {} from "b"; f()',
  'imports of what is called type': 'import type from "a"; import { type as t } from "b"; type(t)',
  'type exports':
    'export type { A } from "a"; export type * from "b"; export { type C, d } from "e"; export type F = 1',
  'exports of local types': 'type A = 1; interface B {} const c = 1; export { A, c, type B }',
  'a default export of a type': 'interface A {}\nexport default A\nf()',
  'default exports': 'export default interface A {}\nexport default abstract class B { abstract c: D }',
  'names that are keywords elsewhere':
    'type; type = 5; declare = 1; const namespace = 1, abstract = type as any; module\n(0)',
  'catch clauses and loops':
    'try {} catch (e: unknown) {} for (const x of <any>y) {} for (let i: number = 0; i < 2;) {}',
  'object methods':
    'const o = { async m<T>(x: T): Promise<void> {}, get a(): number { return 1 }, [k as any]: 2 }',
  'line ends of other systems': 'let a: number = 1\r\ntype T = {\r\n  x: 1\r\n}\r\nlet b = 2 as T\r\n',
  'characters of two units': 'let a: "😀" = "😀" as "😀", b: T = 1',
  'a line for the shell': '#!/usr/bin/env caisson\nlet a: number = 1',
}

/** Where what is erased would join two lines, or cut one. */
const LINES: Readonly<Record<string, string>> = {
  'a list after an alias': 'const a = b\ntype T = string\n;[1].forEach(f)',
  'a parenthesis after an alias': 'const a = b\ntype T = string\n(x)',
  'a template after an interface': 'const a = b\ninterface T {}\n`x`',
  'a list after an assertion': 'const a = b as any\n;[1].f()\nconst c = d as any\n[2].g()',
  'a parenthesis after satisfies': 'a satisfies B\n(c)',
  'a template after an assertion': 'a as B\n`c`',
  'a computed name after modifiers': 'class A { x = 1\npublic [y] = 2\nprivate *z() {}\nreadonly in = 3 }',
  'a method after a field called get': 'class A { get: string\nfoo() {} static: number\nbar() {} }',
  'a computed name after an assertion': 'class A { x = y as T\n[z] = 2 }',
  'a return type over lines': 'const f = (x: T): Promise<\n  U\n> => x',
  'type parameters over lines of async': 'const f = async <\n  T,\n>(x: T) => x',
  'a returned assertion over lines': 'function f() { return <\n  T\n>x }',
  'a returned generic arrow over lines': 'function f() { return <\n  T,\n>(x: T) => x }',
  'a declared function': 'const a = b\ndeclare function f(): void\n(c)',
  'an overload': 'const a = b\nfunction f(): void\nfunction f() {}',
  'an import of types': 'const a = b\nimport type { T } from "m"\n(c)',
  'a directive': '"use strict"\ntype A = 1\nf()',
}

/** Programs whose result is compared: each ends with an expression. */
const RUN: Readonly<Record<string, string>> = {
  'an enum of numbers': 'enum A { X, Y = 5, Z }; A',
  'an enum of texts': 'enum A { X = "x", Y = `y`, "a b" = "c" }; A',
  'a mixed enum': 'enum A { X = "x", Y = 2, Z }; A',
  'computed members': 'enum A { X = 1 << 2, Y = X | 1, Z = Y + X, W = -1, V = ~W, U = (X + Y) * 2, T }; A',
  'members that call': 'enum A { X = "abc".length, Y = Math.max(1, 2) }; A',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: of the language that is read
  'texts made of members': 'enum A { X = "x", Y = X, Z = `${X}!`, W = "a" + "b" }; A',
  'names in quotes': 'enum A { "x-y", "z" = 4, w = z + 1 }; A',
  'merged enums': 'enum A { X = 1 } enum A { Y = X + 1, Z } A',
  'a constant enum': 'const enum A { X = 1, Y } ({ x: A.X, y: A.Y, name: A[2] })',
  'enums in blocks': 'const a = []; for (const i of [1, 2]) { enum A { X = 3 } a.push(A.X + i) } a',
  'enums of one name in two blocks': 'let a: any; { enum A { X } } { enum A { Y } a = A } a',
  'an enum before its use in a function': 'function f() { return A.X } enum A { X = 7 } f()',
  'a member that shadows': 'const X = 9; enum A { X = 1, Y = X } A',
  'a parameter that shadows a member': 'enum A { X = 1, Y = ((X: number) => X)(5) } A',
  'a member in shorthand': 'enum A { X = 1, Y = Object.keys({ X }).length } A',
  'an enum over lines, with comments': 'enum A {\n  // first\n  X = 1, /* second */\n  Y,\n}\nA',
  'parameter properties':
    'class A { constructor(public x: number, private readonly y = 2, z = 3) {} }; ({ ...new A(1) })',
  'parameter properties and fields':
    'class A { y = 1; constructor(readonly x: number) { this.y += x } }; Object.entries(new A(5))',
  'parameter properties behind super':
    'class A { a = 1 } class B extends A { constructor(public b: number) { super(); this.b *= 2 } }; ({ ...new B(4) })',
  'parameter properties behind a directive':
    'class A { constructor(public x: number) { "use strict"; this.x += 1 } }; new A(1).x',
  'parameter properties of a class expression':
    'const A = class { constructor(protected x = 1) {} get y() { return this.x } }; new A().y',
  'declared fields are not set': 'class A { x = 1 } class B extends A { declare x: number } new B().x',
}

describe('what is erased', () => {
  it.each(Object.entries(ERASED))('%s: the same program as by oxc', (_what, source) => {
    expect(programOf(javascriptOf(source))).toEqual(programOf(oxcJavascriptOf(source)))
  })

  it.each(Object.entries(ERASED))('%s: everything that stays has its place', (_what, source) => {
    const result = transpileInHost(source)
    if (!('code' in result)) throw new Error(result.message)
    expect([...result.places]).toEqual([])
    const [before, after] = [source, result.code].map((text) => text.split(/\r?\n/).map((line) => [...line]))
    expect(after?.map((line) => line.length)).toEqual(before?.map((line) => line.length))
    after?.forEach((line, row) => {
      line.forEach((character, column) => {
        if (character !== ' ' && character !== ';') expect(character).toBe(before?.[row]?.[column])
      })
    })
  })
})

describe('where lines would be joined or cut', () => {
  it.each(Object.entries(LINES))('%s: the same program as by oxc', (_what, source) => {
    expect(programOf(javascriptOf(source))).toEqual(programOf(oxcJavascriptOf(source)))
  })
})

describe('what becomes code', () => {
  it.each(Object.entries(RUN))('%s: does the same as by oxc', (_what, source) => {
    const [ours, others] = [javascriptOf(source), oxcJavascriptOf(source)].map((code) =>
      JSON.stringify(runInNewContext(code)),
    )
    expect(ours).toBeDefined()
    expect(ours).toBe(others)
  })

  it('exported enums are exported once, however often they are declared', () => {
    const code = javascriptOf('export enum A { X }\nexport enum A { Y = 1 }\nexport const enum B { Z }')
    expect(code.match(/export /g)).toHaveLength(2)
    expect(() => programOf(code)).not.toThrow()
  })
})
