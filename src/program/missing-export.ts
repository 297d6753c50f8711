/**
 * An import of what a module does not export. The engine says so while it links, without a place: it is looked for in
 * the files that import the module, by a text search.
 */
import { placeOfIndex, type SourcePlace } from './source-place.ts'

/** What the engine says. Longer names it cuts off: nothing is found for them. */
const MISSING =
  /^(?:(?:Could not find|circular reference when looking for) export '(.{1,60})' in module '([^']{1,2000})'|export '(.{1,60})' in module '([^']{1,2000})' is ambiguous)$/su

/** A statement that is longer is not looked through. UTF-16 units. */
const MOST_STATEMENT = 20_000

export interface MissingExport {
  readonly name: string
  /** As the engine knows it. */
  readonly module: string
}

/** What an error of linking is about; undefined for other errors. */
export function missingExport(error: {
  readonly name: string
  readonly message: string
}): MissingExport | undefined {
  if (error.name !== 'SyntaxError') return undefined
  const [, name, module, ambiguous, of] = MISSING.exec(error.message) ?? []
  if (name !== undefined && module !== undefined) return { name, module }
  return ambiguous !== undefined && of !== undefined ? { name: ambiguous, module: of } : undefined
}

/** Where `code` imports `name`, or passes it on, from `specifier`. */
export function placeOfExportName(code: string, specifier: string, name: string): SourcePlace | undefined {
  for (const quote of [`'`, `"`]) {
    const from = quote + specifier + quote
    for (let at = code.indexOf(from); at >= 0; at = code.indexOf(from, at + 1)) {
      const start = Math.max(code.lastIndexOf('import', at), code.lastIndexOf('export', at))
      if (start < 0 || at - start > MOST_STATEMENT) continue
      const found = nameIn(code.slice(start, at), name)
      if (found !== undefined) return placeOfIndex(code, start + found)
    }
  }
  return undefined
}

function nameIn(statement: string, name: string): number | undefined {
  if (name === 'default') {
    const single = /^import\s+(?!type\s+[\w$]+\s+from)[\p{ID_Start}$_]/u.exec(statement)
    if (single !== null) return single[0].length - 1
  }
  for (let at = statement.indexOf(name, 6); at >= 0; at = statement.indexOf(name, at + 1)) {
    const before = statement.slice(0, at)
    if (/[\w$]$/.test(before) || /^[\w$]/.test(statement.slice(at + name.length))) continue
    // What it is called here is another name.
    if (!/\sas\s+$/.test(before)) return at
  }
  return undefined
}
