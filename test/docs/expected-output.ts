/**
 * What a snippet says that it prints: the comments behind its `console.log` calls, in order.
 *
 * `// a / b` stands for two lines, `// a (4 times)` for four, `…` for any text.
 */

/** One pattern for each line that the snippet should print. */
export function expectedOutput(code: string): readonly string[] {
  return code.split('\n').flatMap((line) => {
    const comment = /console\.log\(.*\) *\/\/ (.*)$/.exec(line)?.[1]
    if (comment === undefined) return []
    const [, text = comment, times = '1'] = /^(.*) \((\d+) times\)$/.exec(comment) ?? []
    return Array.from({ length: Number(times) }, () => text.split(' / ')).flat()
  })
}

/** Whether a printed line is what the snippet says. */
function matchesExpected(line: string, expected: string): boolean {
  const parts = expected.split('…')
  const [first = '', ...rest] = parts
  if (rest.length === 0) return line === expected
  if (!line.startsWith(first) || !line.endsWith(rest.at(-1) ?? '')) return false
  let from = first.length
  for (const part of rest) {
    const at = line.indexOf(part, from)
    if (at === -1) return false
    from = at + part.length
  }
  return true
}

/** The printed lines, with those that are as expected written as the snippet writes them: for a readable diff. */
export function comparable(printed: readonly string[], expected: readonly string[]): readonly string[] {
  return printed.map((line, i) => {
    const wanted = expected[i]
    return wanted !== undefined && matchesExpected(line, wanted) ? wanted : line
  })
}
