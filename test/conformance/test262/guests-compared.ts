/**
 * Runs a test in several kinds of guests that must agree.
 *
 * Invariants
 * 1. A test passes if it does in every mode that its flags ask for.
 * 2. Guests agree if they give the same verdict for the same reason, and both profiles the same fuel: whether a test
 *    passes must depend neither on the counting nor on a capture, and which way it fails neither.
 * 3. What ran out of fuel is not run in a guest without metering: nothing could stop it.
 */
import { type Change, type GuestKind, WHAT_GUESTS_ARE } from '../guest-kinds.ts'
import type { Scenario } from './scenario.ts'
import { judge, type Outcome, type Verdict } from './verdict.ts'

export interface ScenarioResult {
  readonly verdict: Verdict
  readonly changes: readonly Change[]
}

export type GuestRuns = (kind: GuestKind, scenario: Scenario) => Outcome

/** @param runs runs a scenario in a guest of its own, of the kind that is asked for */
export function compareGuests(
  runs: GuestRuns,
  scenario: Scenario,
  kinds: readonly GuestKind[],
): ScenarioResult {
  const first = runs('v8', scenario)
  const verdict = judge(scenario, first)
  const changes: Change[] = []
  for (const kind of kinds) {
    if (kind === 'v8' || (kind === 'plain' && ranOutOfFuel(first))) continue
    const outcome = runs(kind, scenario)
    const what = difference(verdict, judge(scenario, outcome)) ?? otherFuel(kind, first, outcome)
    if (what !== undefined) changes.push({ kind, what })
  }
  return { verdict, changes }
}

function ranOutOfFuel({ end }: Outcome): boolean {
  return end?.status === 'exhausted' && end.limit === 'fuel'
}

function difference(first: Verdict, other: Verdict): string | undefined {
  if (first.passed === other.passed && first.reason === other.reason) return undefined
  const say = ({ passed, reason }: Verdict): string => (passed ? 'passed' : `failed: ${reason}`)
  return `${say(other)}, where ${WHAT_GUESTS_ARE.v8} ${say(first)}`
}

function otherFuel(kind: GuestKind, first: Outcome, other: Outcome): string | undefined {
  if (kind !== 'portable' || first.fuel === other.fuel) return undefined
  return `used ${other.fuel} fuel, where ${WHAT_GUESTS_ARE.v8} used ${first.fuel}`
}
