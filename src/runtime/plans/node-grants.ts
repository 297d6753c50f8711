/**
 * Grants for the gates of nodes: every right on the way from the plan to the node has to allow a call.
 *
 * What is counted (calls, rates, bytes) is not counted by the gate, which knows one guest: the purse of the node does,
 * over the whole run. Budgets stand in the rule too, so that a capability without a cost is refused where it has one.
 */
import type { Allowance } from '../../capability/allowance.ts'
import type { Grant } from '../../capability/grant.ts'
import { argumentProblem } from '../../graph/plan/authority.ts'
import type { Rights } from '../../graph/plan/rights-at.ts'

/**
 * @param rights from the innermost on: what it grants is granted
 * @param within asked at every call
 */
export function nodeGrants([own, ...around]: readonly Rights[], within: Allowance): readonly Grant[] {
  if (own === undefined) return []
  return [...own.rules].map(([capability, rule]) => {
    const rules = [rule, ...around.flatMap(({ rules: more }) => more.get(capability) ?? [])]
    const asks = rules.some(({ approve }) => approve === true)
    const atOnce = rules.flatMap(({ concurrent }) => concurrent ?? [])
    const conditions = rules.map(({ only }) => only).filter((only) => only !== undefined)
    return {
      capability,
      within,
      ...(asks && { approve: true }),
      ...(atOnce.length > 0 && { concurrent: Math.min(...atOnce) }),
      ...(rule.budgets && { budgets: rule.budgets }),
      ...(conditions.length > 0 && {
        constrain: (args: unknown): true | string => {
          for (const only of conditions) {
            const problem = argumentProblem(only, args)
            if (problem !== undefined) return problem
          }
          return true
        },
      }),
    }
  })
}
