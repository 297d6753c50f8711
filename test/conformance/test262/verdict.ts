/** Whether a test passed, by what its guest did. */
import type { TurnEnd } from '../../../src/machine/turn.ts'
import type { DriverReport } from './guest-driver.ts'
import type { Scenario } from './scenario.ts'

/** What came of a scenario in one guest. */
export interface Outcome {
  /** Set when the guest ended by a limit or a defect: a test never ends its guest by itself. */
  readonly end: Exclude<TurnEnd, { status: 'waiting' }> | undefined
  /** How the script ended; undefined when it did not get to its end. */
  readonly report: DriverReport | undefined
  /** Whether the script was refused before any of it ran. */
  readonly refusedByParser: boolean
  readonly printed: readonly string[]
  /** Fuel of the whole guest, harness included. */
  readonly fuel: number
}

export interface Verdict {
  readonly passed: boolean
  /** Why not, in one line; empty for a test that passed. */
  readonly reason: string
}

const PASSED: Verdict = { passed: true, reason: '' }
const COMPLETE = 'Test262:AsyncTestComplete'
const MAX_REASON = 300

export function judge({ test }: Scenario, outcome: Outcome): Verdict {
  const { end, report, refusedByParser, printed } = outcome
  const { negative, flags } = test.matter
  if (end !== undefined) return failed(describeEnd(end))
  // A module may wait for ever after it has said that it is done.
  if (report === undefined && !flags.has('async')) return failed('It never came to its end.')
  if (negative !== undefined) {
    const wanted = `${negative.type} in phase ${negative.phase}`
    if (!report?.threw) return failed(`Expected a ${wanted}, and nothing was thrown.`)
    const phase = refusedByParser ? 'parse' : 'a later one'
    const inPhase = (negative.phase === 'parse') === refusedByParser
    if (report.name === negative.type && inPhase) return PASSED
    return failed(`Expected a ${wanted}, got in phase ${phase} ${report.name}: ${report.message}`)
  }
  if (report?.threw) return failed(`${report.name}: ${report.message}`)
  if (!flags.has('async')) return PASSED
  const other = printed.find((line) => line !== COMPLETE)
  if (other !== undefined) return failed(other)
  return printed.length === 1 ? PASSED : failed(`It said ${printed.length} times that it is done.`)
}

function describeEnd(end: Exclude<Outcome['end'], undefined>): string {
  switch (end.status) {
    case 'completed':
      return 'The guest completed.'
    case 'failed':
      return `The guest failed: ${end.error.name}: ${end.error.message}`
    case 'exhausted':
      return `The guest exhausted its limit: ${end.limit}.`
  }
}

function failed(reason: string): Verdict {
  return { passed: false, reason: reason.replace(/\s+/g, ' ').slice(0, MAX_REASON) }
}
