/**
 * A JSON file as a module: its value is the default export.
 *
 * The engine parses it as an expression, which every JSON text is, and nothing that the guest patched has a part in
 * it. Only `"__proto__"` means something else as a key of an expression, so it is written as a computed one.
 */

/** @returns the source of the module, or what is wrong with the text and where, 1-based */
export function jsonModule(
  text: string,
): { readonly code: string } | { readonly message: string; readonly line: number; readonly column: number } {
  try {
    JSON.parse(text)
  } catch (error) {
    return { message: problemOf(error), ...placeOf(text, error) }
  }
  return { code: `export default ${withComputedProto(text)}\n` }
}

/** @param text valid JSON */
function withComputedProto(text: string): string {
  // An escape may spell any part of it.
  if (!text.includes('__proto__') && !/\\u005f/i.test(text)) return text
  const parts: string[] = []
  let copied = 0
  for (let at = text.indexOf('"'); at >= 0; ) {
    let end = at + 1
    while (text[end] !== '"') end += text[end] === '\\' ? 2 : 1
    end += 1
    const token = text.slice(at, end)
    let after = end
    while (after < text.length && ' \t\r\n'.includes(text[after] as string)) after += 1
    if (text[after] === ':' && token.length <= 64 && JSON.parse(token) === '__proto__') {
      parts.push(text.slice(copied, at), `[${token}]`)
      copied = end
    }
    at = text.indexOf('"', end)
  }
  parts.push(text.slice(copied))
  return parts.join('')
}

function problemOf(error: unknown): string {
  const message = error instanceof Error ? error.message : 'invalid JSON'
  // Engines put the text itself into it; what is wrong is said by the place.
  return /unexpected (?:end|token)/i.exec(message)?.[0].toLowerCase() ?? 'invalid JSON'
}

function placeOf(text: string, error: unknown): { line: number; column: number } {
  const position = /position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1]
  const index = position === undefined ? text.length : Math.min(Number(position), text.length)
  const before = text.slice(0, index)
  const lineStart = before.lastIndexOf('\n') + 1
  return { line: before.split('\n').length, column: index - lineStart + 1 }
}
