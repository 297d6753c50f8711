/**
 * Which language a source is in, before anything reads it.
 *
 * Who says it is right, then the name of the file. Otherwise it is JavaScript unless something in it looks like a type:
 * a text search, which takes no notice of strings and comments. What only looks so costs one look by the engine's
 * parser, which decides: what it takes is JavaScript. But for `f<T>(x)`, which it takes for two comparisons that nobody
 * writes: that is TypeScript.
 */

/** `auto` decides by the file's name, then by the source. */
export type Language = 'js' | 'ts' | 'auto'

const TYPESCRIPT_FILE = /\.[mc]?tsx?$/i
const JAVASCRIPT_FILE = /\.[mc]?jsx?$/i

/** `unsure`: it may be TypeScript; the engine's parser is to be asked whether it is JavaScript. */
export function languageOf(
  source: string,
  language: Language,
  fileName: string | undefined,
): 'js' | 'ts' | 'unsure' {
  if (language !== 'auto') return language
  if (fileName !== undefined) {
    if (TYPESCRIPT_FILE.test(fileName)) return 'ts'
    if (JAVASCRIPT_FILE.test(fileName)) return 'js'
  }
  if (CALL_WITH_TYPES.test(source)) return 'ts'
  return mayBeTypeScript(source) ? 'unsure' : 'js'
}

/** The name of a file that says JavaScript. */
export function isJavaScriptFile(fileName: string): boolean {
  return JAVASCRIPT_FILE.test(fileName)
}

/** Whether something in a text looks like a type. */
export function mayBeTypeScript(text: string): boolean {
  return HINTS.some((hint) => hint.test(text))
}

/** `f<number>(`, `new Map<string, A[]>(`: without a space before the bracket. */
const CALL_WITH_TYPES = /[\w$]<[A-Za-z_$][\w$ ,.|&[\]'"]{0,200}>\(/

/** Each runs in time that grows with the source alone: what repeats is bounded, or begins with what is rare. */
const HINTS: readonly RegExp[] = [
  // interface A, type A =, enum A, namespace A, declare …, abstract class A, const enum A
  /(?:^|[;{}\n])[ \t]*(?:export[ \t]+(?:default[ \t]+)?)?(?:(?:interface|enum|namespace|module|declare|abstract[ \t]+class|const[ \t]+enum|type)[ \t]+[\w$'"{*])/,
  // import type { A }, import { type A }
  /\b(?:import|export)[ \t]+type\b|[{,]\s{0,100}type[ \t]+[\w$]/,
  // const a: string, let a!: string, let a, b = 1, c: string
  /\b(?:const|let|var)[ \t]+(?:[\w$]{1,60}[ \t]{0,9}(?:=[ \t]{0,9}[\w$.'"]{1,60}[ \t]{0,9})?,\s{0,40}){0,9}[\w$]{1,200}[ \t]*!?:/,
  // const { a }: T, [a]: T, ({ a }: T)
  /[}\]][ \t]*:[ \t]*[\w${[(]/,
  // (a: string, (a?: string, (this: T, (a, b: string
  /\([ \t\n]{0,40}(?:[\w$]{1,40},[ \t\n]{0,40}){0,6}(?:\.\.\.)?[\w$]{1,40}\??[ \t]*:/,
  // ): string =>, ): string {
  /\)[ \t]*:[ \t]*[\w${[('"<]/,
  // a as T, a satisfies T
  /\bas[ \t]+(?:const|any|unknown|never|string|number|boolean|bigint|object|undefined|typeof|keyof|[A-Z{[('"<])/,
  /\bsatisfies[ \t]+[\w${[('"<]/,
  // f<T>(), <T>(a), <T,>(a), <T extends U>, class A<T>, new Map<string, number>
  /<[\w$ ,.|&[\]{}:'"?=\n]{1,200}>[ \t]*[({`;,)]/,
  /<[\w$]{1,200}[ \t]+extends[ \t]/,
  // private a, readonly a, implements A
  /\b(?:private|public|protected|readonly|override|implements)[ \t]+[\w$#[*]/,
  // a!.b, a!), a![0]
  /[\w$)\]]![.;,)[\]\n(]/,
  // a: string; a?: string
  /^[ \t]*[\w$]{1,200}[?!]?[ \t]*:[ \t]*[\w$][^,\n]{0,200};[ \t]*$/m,
]
