/** The tables of docs/conformance.md, from a run: `--markdown` prints them. */
import { EXCLUSIONS } from './test262/applicability.ts'
import type { Test262Result } from './test262/run-test262.ts'
import { WPT_EXCLUSIONS } from './wpt/areas.ts'
import type { WptAreaResult } from './wpt/run-wpt.ts'
import { areaSums } from './wpt/wpt-report.ts'

/** What is not applicable in test262. */
export function test262Tables({ excluded }: Test262Result): string {
  const rows = EXCLUSIONS.map((exclusion) => [number(excluded.get(exclusion) ?? 0), exclusion.because])
  return table(['tests', 'reason'], rows)
}

/** Areas; files that do not pass whole, of areas that pass; what is left out. */
export function wptTables(results: readonly WptAreaResult[]): string {
  const areas = results.map((result) => {
    const { passed, of } = areaSums(result)
    const share = of === 0 ? '-' : `${((100 * passed) / of).toFixed(1)} %`
    const wanted = `${result.area.floor * 100} %`
    return [result.area.name, number(result.files.length), number(of), number(passed), share, wanted]
  })
  const files = results.flatMap(({ files: all }) =>
    all.flatMap(({ path, passed, failures }) =>
      failures.length === 0 ? [] : [[path, number(passed + failures.length), number(passed)]],
    ),
  )
  const reasons = [...new Set(WPT_EXCLUSIONS.map(({ because }) => because))].map((because) => {
    const counts = WPT_EXCLUSIONS.filter((exclusion) => exclusion.because === because).flatMap((exclusion) =>
      results.map(({ excluded }) => excluded.get(exclusion) ?? { files: 0, tests: 0 }),
    )
    const sum = (of: 'files' | 'tests'): string => number(counts.reduce((all, one) => all + one[of], 0))
    return [`${sum('files')} files, ${sum('tests')} tests`, because]
  })
  return [
    table(['area', 'files', 'tests', 'passed', 'share', 'wanted'], areas),
    table(['file', 'tests', 'passed'], files),
    table(['what', 'reason'], reasons),
  ].join('\n\n')
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

function number(value: number): string {
  return value.toLocaleString('en-US')
}
