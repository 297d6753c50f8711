/** Whether two programs are the same but for their layout. */
import { parse } from 'acorn'

/** A program as data, without places, and without statements that do nothing. */
export function programOf(javascript: string): unknown {
  return cleaned(
    parse(javascript, {
      ecmaVersion: 'latest',
      sourceType: 'module',
      allowHashBang: true,
      allowReturnOutsideFunction: true,
    }),
  )
}

const PLACES = new Set(['start', 'end', 'raw', 'directive', 'shorthand'])

function cleaned(node: unknown): unknown {
  if (Array.isArray(node)) return node.filter((entry) => !doesNothing(entry)).map(cleaned)
  if (typeof node === 'bigint' || node instanceof RegExp) return String(node)
  if (typeof node !== 'object' || node === null) return node
  return Object.fromEntries(
    Object.entries(node)
      .filter(([key]) => !PLACES.has(key))
      .map(([key, value]) => [key, BRANCHES.has(key) ? unwrapped(cleaned(value)) : cleaned(value)]),
  )
}

const BRANCHES = new Set(['consequent', 'alternate'])

/** A loop alone in braces is that loop: some printers put them there. */
function unwrapped(branch: unknown): unknown {
  const { type, body } = (branch ?? {}) as { type?: string; body?: readonly { type: string }[] }
  const [only] = type === 'BlockStatement' && body?.length === 1 ? body : []
  return only !== undefined && /^(?:For|While)/.test(only.type) ? only : branch
}

function doesNothing(node: unknown): boolean {
  const { type, source, specifiers, declaration } = (node ?? {}) as Record<string, unknown>
  if (type === 'EmptyStatement') return true
  const named = type === 'ExportNamedDeclaration' && !source && !declaration
  return named && Array.isArray(specifiers) && specifiers.length === 0
}
