/**
 * From a place in code that was made of a source back to the place in the source.
 *
 * Where nothing moved there is nothing to tell: most programs have an empty list. What the list says may have been
 * outside of the process: it is only ever read as numbers, and a wrong one shows a wrong place.
 */
import type { SourcePlace } from './source-place.ts'

/**
 * Flat quadruples in ascending order: line and column in the code, line and column in the source. Between two of them
 * the code stands as it stood in the source, or is not the author's.
 */
export type Places = readonly number[]

/** Numbers of one entry. */
const ENTRY = 4

/** The place in the source that a place in the code comes from, or the nearest before what was put in there. */
export function originalPlace(places: Places, { line, column }: SourcePlace): SourcePlace {
  const after = firstBehind(places, line, column)
  if (after === 0) return { line, column }
  const [codeLine = 1, codeColumn = 1, sourceLine = 1, sourceColumn = 1] = places.slice(after - ENTRY, after)
  const moved =
    line === codeLine
      ? { line: sourceLine, column: sourceColumn + column - codeColumn }
      : { line: sourceLine + line - codeLine, column }
  const [, , endLine = Number.POSITIVE_INFINITY, endColumn = 1] = places.slice(after, after + ENTRY)
  // Text that was put in is longer than what stood there.
  const beyond = moved.line > endLine || (moved.line === endLine && moved.column > endColumn)
  return beyond ? { line: endLine, column: endColumn } : moved
}

/** Index of the first entry whose place in the code is behind the given one. */
function firstBehind(places: Places, line: number, column: number): number {
  let low = 0
  let high = Math.floor(places.length / ENTRY)
  while (low < high) {
    const middle = (low + high) >>> 1
    const at = places[middle * ENTRY] ?? 0
    const isBehind = at > line || (at === line && (places[middle * ENTRY + 1] ?? 0) > column)
    if (isBehind) high = middle
    else low = middle + 1
  }
  return low * ENTRY
}
