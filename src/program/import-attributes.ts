/**
 * What an author says of a module that they import: `with { type: 'json' }`.
 *
 * The engine parses attributes and keeps them to itself, so they are looked for in the text. A text search can be
 * fooled only into refusing an import: what a module is, its name or the host decides, and nothing else.
 *
 * Invariant: the text is searched once, whatever it imports: nobody pays for the host's time.
 */
import { MODULE_BOUNDS } from '../machine/module-graph.ts'

const BEHIND_LITERAL = /(['"])\s{0,100}(?:with|assert)\s{0,100}\{([^{}]{0,200})\}/g

/** Attributes by the specifiers that they follow in `source`, as written between the brackets: the first of each. */
export function attributesIn(source: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const match of source.matchAll(BEHIND_LITERAL)) {
    const [, quote = '', attributes = ''] = match
    const before = source.slice(Math.max(0, match.index - MODULE_BOUNDS.specifier - 1), match.index)
    const opened = before.lastIndexOf(quote)
    const specifier = before.slice(opened + 1)
    if (opened >= 0 && !found.has(specifier)) found.set(specifier, attributes)
  }
  return found
}

/** Whether attributes ask for JSON, for nothing, or for what no guest has. */
export function attributeType(attributes: string | undefined): 'json' | 'any' | 'unknown' {
  if (attributes === undefined || attributes.trim() === '') return 'any'
  return /^\s*(?:type|'type'|"type")\s*:\s*(?:'json'|"json")\s*,?\s*$/.test(attributes) ? 'json' : 'unknown'
}
