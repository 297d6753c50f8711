/**
 * Prints how many tests passed, failed and were skipped, alone on one line, from vitest's JSON report.
 *
 *     npx tsx scripts/test-counts.ts REPORT
 *
 * A test file that could not be loaded has no tests in the report; it counts as one failed test, so a
 * broken file can never look like a smaller suite. Ends non-zero when a test failed or none ran.
 */
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

export interface TestCounts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

interface Report {
  readonly testResults: readonly {
    readonly status: string
    readonly assertionResults: readonly { readonly status: string }[]
  }[]
}

/** @param report vitest's JSON report over all projects */
export function countTests(report: Report): TestCounts {
  let passed = 0
  let failed = 0
  let skipped = 0
  for (const file of report.testResults) {
    for (const { status } of file.assertionResults) {
      if (status === 'passed') passed++
      else if (status === 'failed') failed++
      else skipped++
    }
    // The file itself failed: an import, a hook, or a set-up outside any test.
    if (file.status === 'failed' && file.assertionResults.every(({ status }) => status !== 'failed')) failed++
  }
  return { passed, failed, skipped }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const counts = countTests(readReport(process.argv[2] ?? ''))
  process.stdout.write(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`)
  if (counts.failed > 0 || counts.passed === 0) process.exitCode = 1
}

/** No report means that the test run died before its end. */
function readReport(path: string): Report {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Report
  } catch {
    return { testResults: [{ status: 'failed', assertionResults: [] }] }
  }
}
