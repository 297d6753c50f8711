/**
 * From what somebody wrote to a plan that can be proposed: copied, checked, frozen, and named by its digest.
 *
 * Invariants
 * 1. What the digest names is what was checked: nothing of the author's can change it any more.
 * 2. Equal plans have equal digests, whatever the order of their keys.
 * 3. All problems are told together, each with its place.
 */
import { type Digest, sha256 } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import { withCanonical } from '../../values/encode-canonical.ts'
import { checkPlan } from './check-plan.ts'
import { PLAN_LIMITS, plainTree, treeOfData } from './plain-tree.ts'
import type { Plan } from './plan.ts'
import { invalidPlan, PlanProblems } from './plan-problem.ts'
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
  return planOf(readPlan(document))
}

/**
 * A plan again that was kept by its bytes, as they were decoded.
 * @param digest as fast as the platform has it
 * @throws CaissonError `invalid_plan`, as `definePlan`
 */
export function keptPlan(decoded: unknown, digest: (bytes: Uint8Array) => Digest): DefinedPlan {
  return planOf(checked(decoded, treeOfData, digest))
}

function planOf({ plan, problems }: CheckedPlan): DefinedPlan {
  if (plan !== undefined) return plan
  throw invalidPlan(problems.found, problems.count)
}

/** Checks what may be a plan: a document that somebody wrote. */
export function readPlan(document: unknown): CheckedPlan {
  return checked(document, plainTree, sha256)
}

function checked(
  document: unknown,
  treeFrom: typeof plainTree,
  digest: (bytes: Uint8Array) => Digest,
): CheckedPlan {
  const problems = new PlanProblems()
  const tree = treeOf(document, treeFrom, problems)
  if (problems.count === 0) PLAN_SHAPE.check(tree, '', problems)
  // What it means can be asked only of what has the right form.
  if (problems.count === 0) checkPlan(tree as Plan, problems)
  if (problems.count > 0) return { problems }
  return { plan: { plan: tree as Plan, digest: withCanonical(tree, PLAN_LIMITS, digest) } }
}

function treeOf(document: unknown, treeFrom: typeof plainTree, problems: PlanProblems): unknown {
  try {
    return treeFrom(document, problems)
  } catch (error) {
    if (!CaissonError.is(error)) throw error
    problems.add('', error.message)
    return undefined
  }
}
