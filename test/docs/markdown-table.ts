/** The cells of all tables below a heading, without head rows. */
export function tableRows(page: string, heading: string): readonly (readonly string[])[] {
  const from = page.indexOf(`## ${heading}\n`)
  if (from === -1) throw new Error(`There is no heading "${heading}".`)
  const end = page.indexOf('\n## ', from)
  const lines = page.slice(from, end === -1 ? undefined : end).split('\n')
  return lines
    .filter((line, i) => line.startsWith('|') && !line.startsWith('|-') && !lines[i + 1]?.startsWith('|-'))
    .map(cellsOf)
}

/** The cells of all tables of a page, head rows too. */
export function allRows(page: string): readonly (readonly string[])[] {
  const lines = page.split('\n')
  return lines.filter((line) => line.startsWith('|') && !line.startsWith('|-')).map(cellsOf)
}

function cellsOf(line: string): readonly string[] {
  return line
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim())
}
