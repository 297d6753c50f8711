/**
 * Where a text stops being JSON. Runtimes say it in different words, and some do not say where.
 *
 * Without recursion, so that a text of a million brackets is answered like any other.
 */

export interface JsonProblem {
  /** 1-based. */
  readonly line: number
  /** 1-based, in UTF-16 units. */
  readonly column: number
  /** Continues "line 1, column 5: ". */
  readonly expected: string
}

const SPACE = /[ \t\n\r]*/y
// Parts of a string, one after the other: a group that is repeated for each character runs out of stack at some megabytes.
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in strings
const PLAIN = /[^"\\\u0000-\u001f]*/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
const SCALAR = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y

/** The first place at which `text` cannot go on as JSON; undefined where it is JSON. */
export function findJsonProblem(text: string): JsonProblem | undefined {
  const open: ('{' | '[')[] = []
  let at = 0
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at
    if (!pattern.test(text)) return false
    at = pattern.lastIndex
    return true
  }
  const takeString = (): boolean => {
    if (text[at] !== '"') return false
    const start = at
    at += 1
    do take(PLAIN)
    while (take(ESCAPE))
    if (text[at] === '"') {
      at += 1
      return true
    }
    at = start
    return false
  }
  const takeSign = (sign: string): boolean => {
    take(SPACE)
    if (text[at] !== sign) return false
    at += 1
    return true
  }
  const problem = (expected: string): JsonProblem => ({ ...lineAndColumn(text, at), expected })
  const takeKey = (): JsonProblem | undefined => {
    take(SPACE)
    if (!takeString())
      return problem(text[at] === '"' ? 'this string is not valid' : 'expected a "key" in quotes')
    return takeSign(':') ? undefined : problem('expected ":"')
  }

  for (;;) {
    take(SPACE)
    const start = text[at]
    if (start === '{' || start === '[') {
      at += 1
      if (!takeSign(start === '{' ? '}' : ']')) {
        open.push(start)
        const bad = start === '{' ? takeKey() : undefined
        if (bad) return bad
        continue
      }
    } else if (!takeString() && !take(SCALAR)) {
      return problem(text[at] === '"' ? 'this string is not valid' : 'expected a value')
    }
    // A value ended: close what ends with it, or go to the next one.
    while (open.length > 0) {
      const inside = open.at(-1)
      if (takeSign(',')) {
        const bad = inside === '{' ? takeKey() : undefined
        if (bad) return bad
        break
      }
      const end = inside === '{' ? '}' : ']'
      if (!takeSign(end)) return problem(`expected "," or "${end}"`)
      open.pop()
    }
    if (open.length > 0) continue
    take(SPACE)
    return at < text.length ? problem('expected the end') : undefined
  }
}

function lineAndColumn(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at)
  const lineStart = before.lastIndexOf('\n') + 1
  return { line: before.split('\n').length, column: at - lineStart + 1 }
}
