/** The pages whose snippets run as tests. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type MarkdownSnippet, markdownSnippets } from './markdown-snippet.ts'

export const ROOT: string = join(import.meta.dirname, '../..')

/** `README.md` and everything in `docs/`, by path. */
export const DOCUMENTED_PAGES: readonly string[] = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => `docs/${name}`),
]

export const SNIPPETS: readonly MarkdownSnippet[] = DOCUMENTED_PAGES.flatMap((page) =>
  markdownSnippets(page, readFileSync(join(ROOT, page), 'utf8')),
)

/** The one snippet with this language and note; throws when there is none or more than one. */
export function theSnippet(language: string, note: string): MarkdownSnippet {
  const found = SNIPPETS.filter((snippet) => snippet.language === language && snippet.note === note)
  const [snippet] = found
  if (snippet === undefined || found.length > 1) {
    throw new Error(`There are ${found.length} snippets "${language} ${note}" in the documented pages.`)
  }
  return snippet
}
