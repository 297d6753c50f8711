/**
 * Runs a test in several kinds of guests that must agree.
 *
 * Invariants
 * 1. A test passes if it does in every mode that its flags ask for.
 * 2. Guests agree if they give the same verdict for the same reason, and both profiles the same fuel: whether a test
 *    passes must depend neither on the counting nor on a capture, and which way it fails neither.
 * 3. What ran out of fuel is not run in a guest without metering: nothing could stop it.
 */
import type { Limits } from '../../../src/machine/limits.ts'
import { openBuild } from '../engine-builds.ts'
import type { Scenario } from './scenario.ts'
import { runScenario, TEST_LIMITS } from './test-guest.ts'
import { judge, type Outcome, type Verdict } from './verdict.ts'

/** What kinds of guests there are. The first one is what the others are compared with. */
export const GUEST_KINDS = ['v8', 'moved', 'portable', 'plain'] as const
export type GuestKind = (typeof GUEST_KINDS)[number]

export const WHAT_GUESTS_ARE: Readonly<Record<GuestKind, string>> = {
  v8: 'metered, profile v8',
  moved: 'metered, captured in mid-test and restored in another instance',
  portable: 'metered, profile portable',
  plain: 'not metered',
}

/** A guest that did not do as the first one did. */
export interface Change {
  readonly kind: GuestKind
  readonly what: string
}

export interface ScenarioResult {
  readonly verdict: Verdict
  readonly changes: readonly Change[]
}

export type GuestRuns = (kind: GuestKind, scenario: Scenario) => Outcome

/** Guests on the builds of this repository. */
export async function openGuests(limits: Limits = TEST_LIMITS): Promise<GuestRuns> {
  const v8 = await openBuild('v8')
  const pools = { v8, moved: v8, portable: await openBuild('portable'), plain: await openBuild('plain') }
  return (kind, scenario) => runScenario(pools[kind], scenario, { moves: kind === 'moved', limits })
}

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
