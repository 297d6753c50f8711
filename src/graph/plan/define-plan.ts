/**
 * From what somebody wrote to a plan that can be proposed: copied, checked, frozen, and named by its digest.
 *
 * Invariants
 * 1. What the digest names is what was checked: nothing of the author's can change it any more.
 * 2. Equal plans have equal digests, whatever the order of their keys.
 * 3. All problems are told together, each with its place.
 */
import type { Digest } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import { digestValue } from '../../values/digest-value.ts'
import { checkPlan } from './check-plan.ts'
import { PLAN_LIMITS, plainTree } from './plain-tree.ts'
import type { Plan } from './plan.ts'
import { PlanProblems, shownPointer } from './plan-problem.ts'
import { PLAN_SHAPE } from './plan-shape.ts'

/** A plan that was checked. */
export interface DefinedPlan {
  /** Frozen, with all that is in it. */
  readonly plan: Plan
  /** SHA-256 of its canonical encoding. */
  readonly digest: Digest
}

/** A plan, or what is wrong with it. */
export type CheckedPlan =
  | { readonly plan: DefinedPlan; readonly problems?: never }
  | { readonly plan?: never; readonly problems: PlanProblems }

/**
 * Checks a plan.
 * @throws CaissonError `invalid_plan` with `details: { problems, count }`: what is wrong and where, the first hundred
 */
export function definePlan(document: Plan): DefinedPlan {
  const { plan, problems } = readPlan(document)
  if (plan !== undefined) return plan
  const [first] = problems.found
  const more = problems.count > 1 ? ` And ${problems.count - 1} more: see details.problems.` : ''
  const what = first === undefined ? '' : ` ${shownPointer(first.at)}: ${first.problem}.`
  throw new CaissonError('invalid_plan', `The plan is not valid.${what}${more}`, {
    details: { problems: problems.found, count: problems.count },
  })
}

/** Checks what may be a plan: a document that somebody wrote. */
export function readPlan(document: unknown): CheckedPlan {
  const problems = new PlanProblems()
  const tree = treeOf(document, problems)
  if (problems.count === 0) PLAN_SHAPE.check(tree, '', problems)
  // What it means can be asked only of what has the right form.
  if (problems.count === 0) checkPlan(tree as Plan, problems)
  if (problems.count > 0) return { problems }
  return { plan: { plan: tree as Plan, digest: digestValue(tree, PLAN_LIMITS) } }
}

function treeOf(document: unknown, problems: PlanProblems): unknown {
  try {
    return plainTree(document, problems)
  } catch (error) {
    if (!CaissonError.is(error)) throw error
    problems.add('', error.message)
    return undefined
  }
}
