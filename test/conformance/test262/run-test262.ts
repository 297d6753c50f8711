/** Runs a sample of a checkout of test262, and says how every test ended. */
import type { Change, GuestKind } from '../guest-kinds.ts'
import { sample } from '../sample.ts'
import { type Exclusion, exclusionOf } from './applicability.ts'
import type { Test262Checkout } from './checkout.ts'
import { compareGuests, type GuestRuns } from './guests-compared.ts'
import { type Mode, scenariosOf, type Test262Test } from './scenario.ts'

export interface Test262Plan {
  readonly checkout: Test262Checkout
  /** How many of the applicable tests are run; default all. */
  readonly size: number
  readonly seed: number
  readonly guests: GuestRuns
  readonly kinds: readonly GuestKind[]
  /** Only tests whose path begins so. */
  readonly under: string
  /** Called now and then. */
  readonly progress: (done: number, of: number) => void
}

export interface FailedTest {
  readonly path: string
  readonly mode: Mode
  readonly reason: string
}

export interface ChangedTest extends Change {
  readonly path: string
  readonly mode: Mode
}

export interface Test262Result {
  /** Tests in the checkout, before anything was left out. */
  readonly found: number
  /** Tests that are not applicable, by what leaves them out. */
  readonly excluded: ReadonlyMap<Exclusion, number>
  readonly applicable: number
  readonly run: number
  readonly passed: number
  /** A test that fails in two modes is there twice. */
  readonly failures: readonly FailedTest[]
  readonly changes: readonly ChangedTest[]
  /** Guests that ran. */
  readonly guests: number
}

const PROGRESS_STEP = 100

export function runTest262(plan: Test262Plan): Test262Result {
  const { checkout, kinds } = plan
  const paths = checkout.testPaths().filter((path) => path.startsWith(plan.under))
  const excluded = new Map<Exclusion, number>()
  const applicable = paths.filter((path) => {
    const exclusion = exclusionOf(checkout.readTest(path))
    if (exclusion !== undefined) excluded.set(exclusion, (excluded.get(exclusion) ?? 0) + 1)
    return exclusion === undefined
  })
  const chosen = sample(applicable, plan.size, plan.seed)
  const failures: FailedTest[] = []
  const changes: ChangedTest[] = []
  let passed = 0
  let guests = 0
  for (const [index, path] of chosen.entries()) {
    if (runTest(checkout.readTest(path))) passed += 1
    if ((index + 1) % PROGRESS_STEP === 0) plan.progress(index + 1, chosen.length)
  }
  return {
    found: paths.length,
    excluded,
    applicable: applicable.length,
    run: chosen.length,
    passed,
    failures,
    changes,
    guests,
  }

  function runTest(test: Test262Test): boolean {
    const { path } = test
    const before = failures.length
    for (const scenario of scenariosOf(test, checkout)) {
      const { mode } = scenario
      const { verdict, changes: found } = compareGuests(plan.guests, scenario, kinds)
      guests += kinds.length
      if (!verdict.passed) failures.push({ path, mode, reason: verdict.reason })
      changes.push(...found.map((change) => ({ path, mode, ...change })))
    }
    return failures.length === before
  }
}
