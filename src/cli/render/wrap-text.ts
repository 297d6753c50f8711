/** Prose to lines of a width. */

/**
 * `text` broken at spaces into lines of at most `width` columns. A word that is longer stays whole, and a flag stays
 * with what follows it: a broken path or command cannot be copied.
 */
export function wrapText(text: string, width: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/(?<!(?:^| )--[a-z-]+) /)) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else {
      line = line === '' ? word : `${line} ${word}`
    }
  }
  return [...lines, line]
}

/** As `wrapText`, with `first` before the first line and as many spaces before the others. */
export function hangText(first: string, text: string, width: number): readonly string[] {
  const lines = wrapText(text, Math.max(20, width - first.length))
  return lines.map((line, index) => (index === 0 ? first : ' '.repeat(first.length)) + line)
}
