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
  const before = source.slice(0, index)
  const lineStart = before.lastIndexOf('\n') + 1
  let line = 1
  for (let at = before.indexOf('\n'); at >= 0; at = before.indexOf('\n', at + 1)) line++
  return { line, column: [...before.slice(lineStart)].length + 1 }
}
