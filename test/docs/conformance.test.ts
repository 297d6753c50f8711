/** docs/conformance.md says what the runner leaves out, and which areas there are. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { GUEST_KINDS } from '../conformance/guest-kinds.ts'
import { EXCLUSIONS } from '../conformance/test262/applicability.ts'
import { AREAS, WPT_EXCLUSIONS } from '../conformance/wpt/areas.ts'
import { ROOT } from './documented-pages.ts'
import { tableRows } from './markdown-table.ts'

const page = readFileSync(join(ROOT, 'docs/conformance.md'), 'utf8')
const count = (cell = ''): number => Number(cell.replaceAll(',', ''))

describe('docs/conformance.md', () => {
  it('has every kind of guest', () => {
    expect(tableRows(page, 'What is compared').map(([kind]) => kind)).toEqual(
      GUEST_KINDS.map((kind) => `\`${kind}\``),
    )
  })

  it('has every reason for which a test of test262 is not applicable, and their sum', () => {
    const rows = tableRows(page, 'Not applicable in test262')
    expect(rows.map(([, reason]) => reason)).toEqual(EXCLUSIONS.map(({ because }) => because))
    const sum = rows.reduce((all, [tests]) => all + count(tests), 0)
    const [, said] = /Of [\d,]+ tests ([\d,]+) are not applicable/.exec(page) ?? []
    expect(sum).toBe(count(said))
  })

  it('has the areas of web-platform-tests, with what is wanted of each', () => {
    const rows = tableRows(page, 'web-platform-tests')
    const byName = new Map(rows.map((row) => [row[0], row.at(-1)]))
    expect(byName).toEqual(new Map(AREAS.map(({ name, floor }) => [name, `${floor * 100} %`])))
  })

  it('has every reason for which one of web-platform-tests is left out', () => {
    const reasons = tableRows(page, 'Left out of web-platform-tests').map(([, reason]) => reason)
    expect(reasons).toEqual([...new Set(WPT_EXCLUSIONS.map(({ because }) => because))])
  })
})
