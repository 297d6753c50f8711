/** Runs areas of web-platform-tests, and says how every test of every file ended. */
import type { Change, GuestKind } from '../guest-kinds.ts'
import { type Area, type WptExclusion, wptExclusionOf } from './areas.ts'
import type { WptCheckout } from './wpt-checkout.ts'
import type { WptReport } from './wpt-driver.ts'
import type { WptOutcome, WptScenario } from './wpt-guest.ts'

/** Runs a scenario in a guest of its own. */
export type WptRuns = (kind: GuestKind, scenario: WptScenario) => WptOutcome

/** One file, with all of its query strings. */
export interface WptFileResult {
  readonly path: string
  readonly passed: number
  /** Name and message of each test that failed; a file that did not get to its end has one more. */
  readonly failures: readonly string[]
  /** Guests that ended otherwise than the first one. */
  readonly changes: readonly Change[]
}

/** What was left out, by the reason. */
export type WptExcluded = ReadonlyMap<WptExclusion, { readonly files: number; readonly tests: number }>

export interface WptAreaResult {
  readonly area: Area
  readonly excluded: WptExcluded
  readonly files: readonly WptFileResult[]
}

const PASS = 0

export function runWptArea(
  checkout: WptCheckout,
  area: Area,
  runs: WptRuns,
  kinds: readonly GuestKind[],
): WptAreaResult {
  const excluded = new Map<WptExclusion, { files: number; tests: number }>()
  const files: WptFileResult[] = []
  for (const path of area.folders.flatMap((folder) => checkout.testPaths(folder))) {
    const source = checkout.read(path)
    const exclusion = wptExclusionOf({ path, source })
    if (exclusion === undefined) files.push(runFile(path, source))
    else leftOut(exclusion).files += 1
  }
  return { area, excluded, files }

  function leftOut(exclusion: WptExclusion): { files: number; tests: number } {
    const counts = excluded.get(exclusion) ?? { files: 0, tests: 0 }
    excluded.set(exclusion, counts)
    return counts
  }

  function runFile(path: string, source: string): WptFileResult {
    let passed = 0
    const failures: string[] = []
    const changes: Change[] = []
    for (const scenario of checkout.scenarios(path)) {
      const first = runs('v8', scenario)
      const counted = first.reports.filter((report) => {
        const exclusion = report.kind === 'result' && wptExclusionOf({ path, source, test: report.name })
        if (exclusion) leftOut(exclusion).tests += 1
        return !exclusion
      })
      passed += counted.filter((report) => report.kind === 'result' && report.status === PASS).length
      failures.push(...counted.flatMap(describeFailure))
      if (first.stopped !== undefined) failures.push(first.stopped)
      for (const kind of kinds) {
        if (kind === 'v8') continue
        const what = difference(first, runs(kind, scenario), kind)
        if (what !== undefined) changes.push({ kind, what })
      }
    }
    return { path, passed, failures, changes }
  }
}

function describeFailure(report: WptReport): readonly string[] {
  if (report.kind === 'thrown') return [`The file threw ${report.message}`]
  if (report.status === PASS) return []
  return [
    report.kind === 'done' ? `The harness failed: ${report.message}` : `${report.name}: ${report.message}`,
  ]
}

function difference(first: WptOutcome, other: WptOutcome, kind: GuestKind): string | undefined {
  const [one, two] = [first, other].map(({ reports, stopped }) => [
    ...reports.map((r) => JSON.stringify(r)),
    String(stopped),
  ])
  const at = one?.findIndex((line, index) => line !== two?.[index]) ?? -1
  if (at >= 0) return `${two?.[at] ?? 'nothing'}, and not ${one?.[at]}`
  if (one?.length !== two?.length) return 'more than the first one'
  if (kind === 'portable' && first.fuel !== other.fuel) return `fuel ${other.fuel}, and not ${first.fuel}`
  return undefined
}
