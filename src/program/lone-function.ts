/**
 * A program that is one function with the word `function` and nothing else, as models write it: `function main(input) {
 * … }`. As a statement it has no value, and without a name it is none; as an expression it is the value.
 *
 * Invariants
 * 1. Only what is one function is taken: no call, member, operator or other statement follows it. The engine's parser
 *    says so. After `extends` it takes no operator, and what ends with the bracket of a body is neither a call nor a
 *    member. A bracket in a comment of the same line would hide ours.
 * 2. What stands around it is in its own lines, so that no line moves.
 */

const FUNCTION = /(?:async[ \t]+)?function\b(?!\s*\*)/y
const SPACE = /\s*/y

export interface LoneFunction {
  /** The source as an expression; one column stands before it. */
  readonly code: string
  /** Parses if that is one function. */
  readonly provided: string
}

/** Undefined where a source is none, whatever a parser would say. */
export function loneFunction(source: string): LoneFunction | undefined {
  FUNCTION.lastIndex = afterComments(source)
  if (!FUNCTION.test(source)) return undefined
  const end = beforeComments(source)
  const whole = source.slice(0, end)
  if (!whole.endsWith('}')) return undefined
  return { code: `(${whole})${source.slice(end)}`, provided: `(class extends ${whole} {})` }
}

/** Where the first word begins. */
function afterComments(source: string): number {
  for (let at = 0; ; ) {
    SPACE.lastIndex = at
    SPACE.test(source)
    at = SPACE.lastIndex
    const isLine = source.startsWith('//', at)
    if (!isLine && !source.startsWith('/*', at)) return at
    const end = isLine ? source.indexOf('\n', at) : source.indexOf('*/', at + 2)
    if (end < 0) return source.length
    at = isLine ? end : end + 2
  }
}

/** The end without lines of comment alone, and without one semicolon. Lines of a text end in no function. */
function beforeComments(source: string): number {
  let end = source.length
  for (;;) {
    end = source.slice(0, end).trimEnd().length
    const start = source.lastIndexOf('\n', end - 1) + 1
    if (start === 0 || !/^[ \t]*\/\//.test(source.slice(start, end))) break
    end = start
  }
  return source[end - 1] === ';' ? source.slice(0, end - 1).trimEnd().length : end
}
