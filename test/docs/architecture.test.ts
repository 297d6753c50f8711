/** docs/architecture.md names the layers that are enforced, in their order. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from './documented-pages.ts'
import { tableRows } from './markdown-table.ts'

const page = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8')
const rules = readFileSync(join(ROOT, '.dependency-cruiser.mjs'), 'utf8')
const enforced = [...(/const LAYERS = \[([^\]]*)\]/.exec(rules)?.[1] ?? '').matchAll(/'(\w+)'/g)].map(
  ([, layer = '']) => layer,
)
const inTicks = (text: string): readonly string[] =>
  [...text.matchAll(/`(\w+)`/g)].map(([, name = '']) => name)

describe('docs/architecture.md', () => {
  it('has every layer that exists, in the order of imports', () => {
    expect(enforced.length).toBeGreaterThan(10)
    const layers = tableRows(page, 'The layers').map(([layer = '']) => layer.replaceAll('`', ''))
    expect(layers).toEqual(enforced.filter((layer) => existsSync(join(ROOT, 'src', layer))))
    expect([...layers].sort()).toEqual(readdirSync(join(ROOT, 'src')).sort())
  })

  it('names the reserved layers, each before the one that follows it', () => {
    const sentence = /Names that are reserved, [^:]*: ([^.]*)\./.exec(page)?.[1] ?? ''
    const groups = [...sentence.matchAll(/([^()]*)\(before `(\w+)`\)/g)]
    expect(groups.flatMap(([, names = '']) => inTicks(names))).toEqual(
      enforced.filter((layer) => !existsSync(join(ROOT, 'src', layer))),
    )
    for (const [, names = '', next = ''] of groups) {
      for (const name of inTicks(names)) expect(enforced.indexOf(name)).toBeLessThan(enforced.indexOf(next))
    }
  })

  it('numbers the steps of its picture as the text does', () => {
    const picture = readFileSync(join(ROOT, 'docs/architecture.svg'), 'utf8')
    const shown = [...picture.matchAll(/class="number"[^>]*>(\d+)</g)].map(([, number]) => Number(number))
    const walk = page.slice(page.indexOf('\n## One run\n'), page.indexOf('\n## The layers\n'))
    const told = [...walk.matchAll(/^(\d+)\. /gm)].map(([, number]) => Number(number))
    expect(told.length).toBeGreaterThan(5)
    expect([...shown].sort((a, b) => a - b)).toEqual(told)
  })
})

describe('the pictures', () => {
  it.each(['docs/overview.svg', 'docs/architecture.svg'])(
    '%s reads in light and dark, and says what it shows',
    (file) => {
      const svg = readFileSync(join(ROOT, file), 'utf8')
      expect(svg).toContain('prefers-color-scheme: dark')
      expect(svg).toMatch(/<desc id="text">[^<]{40,}<\/desc>/)
      expect(svg).not.toMatch(/<script|<foreignObject|https?:\/\/(?!www\.w3\.org\/2000\/svg)/)
      const [light = '', dark = ''] = [...svg.matchAll(/svg \{ ([^}]*) \}/g)].map(([, block]) => block)
      const names = (block: string): readonly string[] =>
        [...block.matchAll(/(--[\w-]+):/g)].map(([, name = '']) => name)
      expect(names(dark)).toEqual(names(light).filter((name) => names(dark).includes(name)))
      for (const [, used = ''] of svg.matchAll(/var\((--[\w-]+)\)/g)) expect(names(dark)).toContain(used)
    },
  )
})
