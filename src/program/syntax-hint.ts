/**
 * What to do about a program that does not parse, where it looks like something else than a program of its form.
 *
 * Only words: an error may be forged, and a text search may be wrong.
 */
import type { GuestError } from '../machine/turn.ts'
import { isJavaScriptFile, mayBeTypeScript } from './language.ts'

/** Of one line, in UTF-16 units. */
const MOST_LINE = 400
const IS_MODULE = /^[ \t]*(?:import|export)\b(?![ \t]*[(.])/m
/** Four words, or three and the end of a sentence, and nothing that code is made of. */
const PROSE =
  /^[ \t#>*-]{0,10}(?:[A-Za-z][A-Za-z'’-]*[,:;.!?]?[ \t]+){2,}(?:[A-Za-z][A-Za-z'’-]*[ \t]+[A-Za-z][A-Za-z'’ ,.:;!?-]*|[A-Za-z'’-]+[.:!?])$/
const KEYWORD =
  /^[ \t]*(?:async|await|break|case|class|const|continue|default|delete|do|else|export|for|function|if|import|let|new|return|static|switch|throw|try|typeof|var|void|while|yield)\b/

/** One sentence, or undefined. @param source the author's */
export function syntaxHint({ name, message, position }: GuestError, source: string): string | undefined {
  if (name !== 'SyntaxError' || position === undefined) return undefined
  if (message.startsWith('return not in a function')) {
    return IS_MODULE.test(source)
      ? 'A program with import or export is a module: end it with `export default VALUE` in place of `return VALUE`.'
      : 'There is no function here to return from: end with the value itself, without `return`.'
  }
  const line = source.split('\n', position.line)[position.line - 1]?.trimEnd()
  if (line === undefined || line.length > MOST_LINE) return undefined
  if (PROSE.test(line) && !KEYWORD.test(line)) {
    return 'This line reads like prose: give the program alone, or in a fence of Markdown (```js).'
  }
  if (isJavaScriptFile(position.file) && mayBeTypeScript(line)) {
    return 'This looks like TypeScript in a file whose name says JavaScript: let the name end in .ts.'
  }
  return undefined
}
