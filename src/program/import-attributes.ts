/**
 * What an author says of a module that they import: `with { type: 'json' }`.
 *
 * The engine parses attributes and keeps them to itself, so they are looked for in the text. A text search can be
 * fooled only into refusing an import: what a module is, its name or the host decides, and nothing else.
 */

/** The attributes of an import of `specifier` in `source`, as written between the brackets; undefined without any. */
export function attributesOf(source: string, specifier: string): string | undefined {
  for (const quote of [`'`, `"`]) {
    const literal = quote + specifier + quote
    for (let at = source.indexOf(literal); at >= 0; at = source.indexOf(literal, at + 1)) {
      const after = source.slice(at + literal.length, at + literal.length + 400)
      const found = /^\s{0,100}(?:with|assert)\s{0,100}\{([^{}]{0,200})\}/.exec(after)
      if (found !== null) return found[1]
    }
  }
  return undefined
}

/** Whether attributes ask for JSON, for nothing, or for what no guest has. */
export function attributeType(attributes: string | undefined): 'json' | 'any' | 'unknown' {
  if (attributes === undefined || attributes.trim() === '') return 'any'
  return /^\s*(?:type|'type'|"type")\s*:\s*(?:'json'|"json")\s*,?\s*$/.test(attributes) ? 'json' : 'unknown'
}
