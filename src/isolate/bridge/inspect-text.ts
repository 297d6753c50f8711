/** The small forms that `heap-inspect.ts` composes. */

/** Longest line of entries; more of them stand on lines of their own, in units. */
const LINE = 76
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/

/** Entries between brackets, on one line where they fit. */
export function entryBlock(open: string, entries: readonly string[], close: string): string {
  if (entries.length === 0) return open + close
  const line = entries.join(', ')
  if (line.length <= LINE && !line.includes('\n')) return `${open} ${line} ${close}`
  const indented = entries.map((entry) => `  ${entry.replaceAll('\n', '\n  ')}`).join(',\n')
  return `${open}\n${indented}\n${close}`
}

/** A property name as it stands in an object literal. */
export function keyText(key: string | number): string {
  return typeof key === 'number' || IDENTIFIER.test(key) ? String(key) : quote(key)
}

/** A number, with the sign of zero. */
export function numberText(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value)
}

/** Text in single quotes, with what would break them escaped. */
export function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`
}
