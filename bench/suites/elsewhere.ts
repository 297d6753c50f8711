/**
 * Suites that run in processes of their own: the engine builds on Bun, and the same programs on every runtime.
 *
 * The runtimes come from npm into `.cache/runtimes`, where the tests that compare them look too.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { bringCommand } from '../../scripts/runtimes/bring-command.ts'
import type { Report, SuiteReport } from '../harness/report.ts'
import { summarise } from '../harness/statistics.ts'

/** A suite that measures itself. */
export interface SuiteElsewhere {
  readonly name: string
  readonly measure: (quick: boolean) => SuiteReport
}

const ROOT: string = fileURLToPath(new URL('../..', import.meta.url))

/** @throws Error with what the command wrote to stderr */
function outputOf(command: string, args: readonly string[], okStatus: readonly number[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  })
  if (status === null || !okStatus.includes(status))
    throw new Error(`${command} failed: ${stderr.slice(-500)}`)
  return stdout
}

const fuelOverheadOnBun: SuiteElsewhere = {
  name: 'fuel-overhead-bun',
  measure: (quick) => {
    const bun = bringCommand('bun@1', 'bun')
    const only = 'engine-unmetered,engine-portable'
    const args = ['bench/main.ts', 'fuel-overhead', '--json', '--only', only, ...(quick ? ['--quick'] : [])]
    const { suites, environment } = JSON.parse(outputOf(bun, args, [0])) as Report
    const [suite] = suites
    if (suite === undefined) throw new Error('the bench on Bun gave no suite')
    return {
      ...suite,
      name: 'fuel-overhead-bun',
      description: `${suite.description} (${environment.runtime})`,
    }
  },
}

const runtimes: SuiteElsewhere = {
  name: 'runtimes',
  measure: () => {
    const lines = outputOf(process.execPath, ['--import', 'tsx', 'scripts/test-runtimes.ts'], [0, 1]).split(
      '\n',
    )
    const results = lines.flatMap((line) => {
      const [, subject, verdict] = /^(\w.*?)\s{2,}(\d+ programs equal|DIFFERENT)$/.exec(line) ?? []
      if (subject === undefined) return []
      const samples = [verdict === 'DIFFERENT' ? 1 : 0]
      return [{ subject, wall: summarise(samples), runsPerRound: 1, samples }]
    })
    return {
      name: 'runtimes',
      description:
        'The same programs on every runtime: fuel, values and digests of the final state, compared',
      cases: [
        {
          name: 'equal programs',
          description: 'whether a runtime differs from the first (scripts/test-runtimes.ts; needs a build)',
          unit: 'differences',
          results,
          absent: [],
        },
      ],
    }
  },
}

export const SUITES_ELSEWHERE: readonly SuiteElsewhere[] = [fuelOverheadOnBun, runtimes]
