/**
 * Tables for terminals: aligned where the line is wide enough, one block per row where it is not.
 *
 * 1. Plain text without escapes, so that a pipe and a terminal get the same.
 * 2. No line is wider than asked, whatever the cells hold, as long as one word fits.
 */

export interface Column {
  readonly title: string
  readonly align: 'left' | 'right'
}

/** Breaks text at spaces into lines of at most `width`; longer words stand alone. */
export function wrap(text: string, width: number, indent = ''): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && indent.length + line.length + 1 + word.length > width) {
      lines.push(indent + line)
      line = word
    } else {
      line = line === '' ? word : `${line} ${word}`
    }
  }
  return line === '' ? lines : [...lines, indent + line]
}

const GAP = '  '

/** Lines of a table; falls back to blocks of `title: cell` when the columns do not fit `width`. */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
): string[] {
  const widths = columns.map(({ title }, at) =>
    Math.max(title.length, ...rows.map((row) => (row[at] ?? '').length)),
  )
  const total = widths.reduce((sum, each) => sum + each, GAP.length * (columns.length - 1))
  if (total > width) {
    return rows.flatMap(([head = '', ...cells]) => [
      ...wrap(head, width),
      ...cells.flatMap((cell, at) =>
        cell === '' ? [] : wrap(`${columns[at + 1]?.title ?? ''}: ${cell}`, width, GAP),
      ),
    ])
  }
  const render = (cells: readonly string[]): string =>
    columns
      .map(({ align }, at) => {
        const cell = cells[at] ?? ''
        return align === 'left' ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)
      })
      .join(GAP)
      .trimEnd()
  return [render(columns.map(({ title }) => title)), ...rows.map(render)]
}
