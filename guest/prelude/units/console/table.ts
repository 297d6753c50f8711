/** A table of records as text, as `console.table` shows it. */
import type { Host } from '../../host.ts'

/** Rows and columns that are shown. */
const MOST_ROWS = 100
const MOST_COLUMNS = 20

type Row = ReadonlyMap<string, string>

/**
 * @param columns names of those that are shown; left out, all
 * @returns undefined for what has no rows
 */
export function tableText(
  data: object,
  columns: readonly unknown[] | undefined,
  host: Pick<Host, 'inspect'>,
): string | undefined {
  const records = entries(data)
  if (records.length === 0) return undefined
  const names: string[] = []
  let hasValues = false
  const show = (value: unknown): string =>
    typeof value === 'string' ? `'${value}'` : host.inspect(value).replace(/\s+/g, ' ')
  const rows = records.slice(0, MOST_ROWS).map(([key, value]): [string, Row] => {
    if (typeof value !== 'object' || value === null) {
      hasValues = true
      return [key, new Map([['', show(value)]])]
    }
    const row = new Map<string, string>()
    for (const [name, cell] of entries(value)) {
      if (columns === undefined && !names.includes(name) && names.length < MOST_COLUMNS) names.push(name)
      row.set(`.${name}`, show(cell))
    }
    return [key, row]
  })
  if (columns !== undefined) for (const name of columns.slice(0, MOST_COLUMNS)) names.push(String(name))
  const heads = ['(index)', ...names, ...(hasValues ? ['Values'] : [])]
  const cells = rows.map(([key, row]) => [
    key,
    ...names.map((name) => row.get(`.${name}`) ?? ''),
    ...(hasValues ? [row.get('') ?? ''] : []),
  ])
  const widths = heads.map((head, i) => Math.max(head.length, ...cells.map((row) => row[i]?.length ?? 0)))
  const line = (parts: readonly string[]): string =>
    `│ ${parts.map((part, i) => part.padEnd(widths[i] ?? 0)).join(' │ ')} │`
  const rule = (left: string, middle: string, right: string): string =>
    left + widths.map((width) => '─'.repeat(width + 2)).join(middle) + right
  const lines = [
    rule('┌', '┬', '┐'),
    line(heads),
    rule('├', '┼', '┤'),
    ...cells.map(line),
    rule('└', '┴', '┘'),
  ]
  if (records.length > MOST_ROWS) lines.push(`… ${records.length - MOST_ROWS} more rows`)
  return lines.join('\n')
}

function entries(data: object): [string, unknown][] {
  if (data instanceof Map) return [...data].map(([key, value]) => [String(key), value])
  if (data instanceof Set) return [...data].map((value, i) => [String(i), value])
  return Object.entries(data)
}
