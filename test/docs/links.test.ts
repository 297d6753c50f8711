/** Every relative link of the pages leads to a file, and to a heading where it names one. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DOCUMENTED_PAGES, ROOT } from './documented-pages.ts'

const PAGES = [...DOCUMENTED_PAGES, 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md']
const text = (page: string): string => readFileSync(join(ROOT, page), 'utf8')

/** The anchors that a Markdown renderer makes of headings. */
function anchorsOf(page: string): readonly string[] {
  return [...text(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

describe.each(PAGES)('%s', (page) => {
  it('has no broken link', () => {
    const prose = text(page).replace(/^```[\s\S]*?^```$/gm, '')
    const targets = [...prose.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)].map(
      ([, a, b]) => a ?? b ?? '',
    )
    const broken = targets.filter((target) => {
      if (/^https?:/.test(target)) return false
      const [path = '', anchor] = target.split('#')
      const file = path === '' ? page : relative(ROOT, join(ROOT, dirname(page), path))
      if (!existsSync(join(ROOT, file))) return true
      if (anchor === undefined) return false
      return !statSync(join(ROOT, file)).isFile() || !anchorsOf(file).includes(anchor)
    })
    expect(broken).toEqual([])
  })
})
