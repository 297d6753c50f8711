/**
 * Places in a source, 1-based, as the engine counts them: a line ends at `\n` alone, and a column is a code point.
 */
export interface SourcePlace {
  readonly line: number
  readonly column: number
}

/** Index into `source`, in UTF-16 units, of a place; its length for places behind the end. */
export function indexOfPlace(source: string, { line, column }: SourcePlace): number {
  let index = 0
  for (let i = 1; i < line; i++) {
    const end = source.indexOf('\n', index)
    if (end < 0) return source.length
    index = end + 1
  }
  for (let i = 1; i < column && index < source.length; i++) {
    index += (source.codePointAt(index) ?? 0) > 0xffff ? 2 : 1
  }
  return index
}

/** The place that begins at `index`. */
export function placeOfIndex(source: string, index: number): SourcePlace {
  let line = 1
  let lineStart = 0
  for (let at = source.indexOf('\n'); at >= 0 && at < index; at = source.indexOf('\n', at + 1)) {
    line += 1
    lineStart = at + 1
  }
  let column = 1
  // By hand: a line of megabytes must not become a list of its characters.
  for (let at = lineStart; at < index; column++) at += (source.codePointAt(at) ?? 0) > 0xffff ? 2 : 1
  return { line, column }
}
