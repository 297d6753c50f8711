/** What a run of web-platform-tests prints: a line for each file, and the sums of each area. */
import { WHAT_GUESTS_ARE } from '../guest-kinds.ts'
import { WPT_EXCLUSIONS } from './areas.ts'
import type { WptAreaResult, WptFileResult } from './run-wpt.ts'

/** Tests of an area. A file that did not get to its end counts as one failed test more. */
export function areaSums({ files }: WptAreaResult): { readonly passed: number; readonly of: number } {
  const passed = files.reduce((sum, file) => sum + file.passed, 0)
  return { passed, of: passed + files.reduce((sum, { failures }) => sum + failures.length, 0) }
}

export function wptReport(results: readonly WptAreaResult[]): string {
  const lines = results.flatMap((result) => [
    '',
    areaLine(result),
    ...result.files.map(fileLine),
    ...exclusionLines(result),
  ])
  const changes = changeLines(results)
  return [...lines, '', `${changes.length} changes between the guests, none wanted`, ...changes].join('\n')
}

/** Every failure, and every change: what the file of a run holds. */
export function wptDetails(results: readonly WptAreaResult[]): string {
  const failures = results.flatMap(({ files }) =>
    files.flatMap(({ path, failures: all }) =>
      all.map((failure) => `FAILED   ${path}: ${failure.replace(/\s+/g, ' ').slice(0, 300)}`),
    ),
  )
  return [...failures, ...changeLines(results), ''].join('\n')
}

export function countChanges(results: readonly WptAreaResult[]): number {
  return changeLines(results).length
}

function changeLines(results: readonly WptAreaResult[]): readonly string[] {
  return results.flatMap(({ files }) =>
    files.flatMap(({ path, changes }) =>
      changes.map(({ kind, what }) => `CHANGED  ${path}, ${WHAT_GUESTS_ARE[kind]}: ${what.slice(0, 600)}`),
    ),
  )
}

function areaLine(result: WptAreaResult): string {
  const { passed, of } = areaSums(result)
  const share = of === 0 ? 'no tests' : `${((100 * passed) / of).toFixed(1)} %`
  const wanted = `at least ${(result.area.floor * 100).toFixed(0)} % wanted`
  return `${result.area.name}: ${passed} of ${of} tests passed (${share}, ${wanted}), in ${result.files.length} files`
}

function exclusionLines({ excluded }: WptAreaResult): readonly string[] {
  return WPT_EXCLUSIONS.flatMap((exclusion) => {
    const { files, tests } = excluded.get(exclusion) ?? { files: 0, tests: 0 }
    if (files + tests === 0) return []
    return [
      `  left out: ${[files > 0 ? `${files} files` : '', tests > 0 ? `${tests} tests` : ''].filter(Boolean).join(' and ')}, ${exclusion.because}`,
    ]
  })
}

function fileLine({ path, passed, failures }: WptFileResult): string {
  return `  ${String(passed).padStart(6)} of ${String(passed + failures.length).padEnd(6)} ${path}`
}
