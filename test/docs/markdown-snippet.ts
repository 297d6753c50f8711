/**
 * The code blocks of a Markdown page.
 *
 * A block's info string is `language word…`: the first word is what the page shows, the others say how the tests
 * treat the block (`no-run because …`, `browser=vite`, `edge`).
 */
export interface MarkdownSnippet {
  /** Page and line of the first line of code, for the names of tests. */
  readonly place: string
  readonly language: string
  /** What follows the language in the info string, trimmed. */
  readonly note: string
  readonly code: string
}

/** The blocks of `text` in order. Throws for a block that is never closed. */
export function markdownSnippets(page: string, text: string): readonly MarkdownSnippet[] {
  const snippets: MarkdownSnippet[] = []
  const lines = text.split('\n')
  for (let i = 0; i < lines.length; i += 1) {
    const fence = /^(`{3,})(\S*)(.*)$/.exec(lines[i] as string)
    if (fence === null) continue
    const [, ticks = '', language = '', note = ''] = fence
    const end = lines.indexOf(ticks, i + 1)
    if (end === -1) throw new Error(`${page}:${i + 1}: this code block is never closed.`)
    snippets.push({
      place: `${page}:${i + 2}`,
      language,
      note: note.trim(),
      code: lines.slice(i + 1, end).join('\n'),
    })
    i = end
  }
  return snippets
}
