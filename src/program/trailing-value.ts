/**
 * The value of a module that has no default export and ends with an expression, `await main()` as models write it: as
 * in a script, that expression is the value.
 *
 * It is made the default export by words that are put into a line before it, so that nothing moves.
 *
 * Invariants
 * 1. What stands before the words is a whole module, and what follows is one expression: the engine's parser says so.
 *    So they are never put into a text, a comment or a function.
 */

const HAS_DEFAULT = /\bexport\s+default\b|\bas\s+default\b/
const WORDS = ';export default'
const MOST_TRIED = 8

/** Begins no expression that would be a value. */
const STATEMENT =
  /^(?:const|let|var|function|async function|class|import\s*[^(\s]|import\s+[^(]|export|if|for|while|do|switch|try|throw|return|break|continue|debugger|else|catch|finally|case|default|with)\b/

/**
 * @param parses whether a text is a module
 * @returns the source with the words in it, or as it is
 */
export function withTrailingValue(source: string, parses: (code: string) => boolean): string {
  if (HAS_DEFAULT.test(source)) return source
  for (const start of candidates(source)) {
    const at = placeBefore(source, start)
    if (at === undefined) continue
    const before = source.slice(0, at)
    const after = source.slice(at)
    if (parses(WORDS + after) && parses(before)) return before + WORDS + after
  }
  return source
}

/** Where the last statement may begin: lines that are not indented, from the last one on. Texts can have such lines too. */
function* candidates(source: string): Iterable<number> {
  let end = source.trimEnd().length
  for (let tried = 0; end > 0 && tried < MOST_TRIED; ) {
    const start = source.lastIndexOf('\n', end - 1) + 1
    const line = source.slice(start, Math.min(end, start + 80))
    if (STATEMENT.test(line)) return
    if (/^[\p{ID_Start}$_(`'"[\d]/u.test(line)) {
      tried += 1
      yield start
    }
    end = start - 1
  }
}

/** The end of a blank line before `start`, or of the line before where no comment swallows what follows. */
function placeBefore(source: string, start: number): number | undefined {
  if (start === 0) return undefined
  const end = source[start - 2] === '\r' ? start - 2 : start - 1
  const line = source.slice(source.lastIndexOf('\n', end - 1) + 1, end)
  return line.includes('//') ? undefined : end
}
