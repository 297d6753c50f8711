/**
 * A program that imports and ends with `return`, as models write it: what follows its imports becomes the body of the
 * default export, which is called with the input.
 *
 * The words are put behind the last import, so that nothing of another line moves.
 *
 * Invariants
 * 1. The imports are a whole module, and so is what becomes of the rest: the engine's parser says so. So the words are
 *    never put into a text, a comment or a function.
 * 2. Nothing else changes the meaning of a program: one that parses as a module is left as it is.
 */

const RETURNS = /\breturn\b/
const HAS_DEFAULT = /\bexport\s+default\b|\bas\s+default\b/
/** Where an import declaration begins, and how it goes on to its specifier and attributes. */
const IMPORT = /^[ \t]*import\b(?![ \t]*[(.])/gm
const REST =
  /[^'"();=]{0,2000}(?:'[^'\n]{0,1024}'|"[^"\n]{0,1024}")(?:[ \t]{0,20}with[ \t]{0,20}\{[^{}]{0,400}\})?[ \t]{0,20};?/y
/** A program with more has no such end. */
const MOST_IMPORTS = 10_000
const OPEN = ';export default async function (input) {'
const CLOSE = '\n}'

/**
 * @param parses whether a text is a module
 * @returns the module that was meant, or the source as it is
 */
export function withReturn(source: string, parses: (code: string) => boolean): string {
  if (!RETURNS.test(source) || HAS_DEFAULT.test(source)) return source
  const end = endOfImports(source)
  if (end === 0 || parses(source)) return source
  const head = source.slice(0, end)
  const body = OPEN + source.slice(end) + CLOSE
  return parses(head) && parses(body) ? head + body : source
}

/** Behind the last import declaration; 0 where there is none, or more than anybody writes. */
function endOfImports(source: string): number {
  let end = 0
  let count = 0
  for (const { index, 0: word } of source.matchAll(IMPORT)) {
    count += 1
    if (count > MOST_IMPORTS) return 0
    REST.lastIndex = index + word.length
    if (REST.test(source)) end = REST.lastIndex
  }
  return end
}
