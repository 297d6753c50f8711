/**
 * A grant is the right of one guest to call one capability, with the conditions under which it may.
 * No wildcards: what is granted is what is named.
 */
import { CaissonError } from '../base/errors.ts'
import type { Allowance } from './allowance.ts'
import type { Capability } from './capability.ts'

/** A name grants the capability with the limits of the guest only; a rule narrows it. */
export type Grant = string | GrantRule

/** Conditions of a grant. Everything left out is bounded by the limits of the guest alone. */
export interface GrantRule<Input = unknown> {
  /** The capability, or its name. Given as an object it must be the registered one. */
  readonly capability: string | Capability<Input, unknown>
  /**
   * Decides over the final arguments (validated, with defaults and coercions applied): exactly `true` allows;
   * a string refuses and is shown to the guest as the reason; anything else refuses. Must be synchronous.
   */
  constrain?(args: Input): true | string
  /** A person decides over every call (see the `Approver` port). Not for sync capabilities. */
  readonly approve?: boolean
  /** Calls in all, failed ones included. */
  readonly calls?: number
  /** At most `calls` (1 to 10,000) in any window of `perMs` milliseconds. */
  readonly rate?: { readonly calls: number; readonly perMs: number }
  /** Calls of this capability at work at once; more wait in line. */
  readonly concurrent?: number
  /** Bytes of results delivered to the guest, in all. */
  readonly bytesIn?: number
  /** Bytes of arguments, in all. */
  readonly bytesOut?: number
  /** Allowance per unit of the capability's `cost`, in all. Units not named here are counted and not limited. */
  readonly budgets?: Readonly<Record<string, number>>
  /** What the grant shares with others: of what it takes, nothing is taken that is not left there too. */
  readonly within?: Allowance
  /** Asked at every call; `true`, or a throw, refuses. For rights that live elsewhere. */
  readonly revoked?: () => boolean
}

/** A rule with the input type of its capability flowing into `constrain`. */
export function grant<Input>(
  capability: Capability<Input, unknown>,
  rule: Omit<GrantRule<Input>, 'capability'> = {},
): GrantRule {
  return { ...rule, capability } as GrantRule
}

const FIELDS: ReadonlySet<string> = new Set([
  'capability',
  'constrain',
  'approve',
  'calls',
  'rate',
  'concurrent',
  'bytesIn',
  'bytesOut',
  'budgets',
  'within',
  'revoked',
])

/** Checks the conditions against the capability and returns a frozen copy, the capability's name in place. */
export function checkGrantRule(given: GrantRule, capability: Capability): GrantRule {
  const refuse = (problem: string): never => {
    throw new CaissonError('invalid_argument', `Grant of "${capability.name}": ${problem}.`, {
      details: { capability: capability.name },
    })
  }
  const rule: Record<string, unknown> = {}
  for (const field of Object.keys(given)) {
    if (!FIELDS.has(field)) refuse(`there is no condition "${field.slice(0, 80)}"`)
  }
  // Each read once, and inherited ones too: a condition that is a method of a class is a condition all the same.
  for (const field of FIELDS) {
    const value: unknown = given[field as keyof GrantRule]
    if (value !== undefined) rule[field] = value
  }
  rule.capability = capability.name
  for (const field of ['calls', 'bytesIn', 'bytesOut'] as const) {
    if (rule[field] !== undefined && !isCount(rule[field], 0))
      refuse(`${field} must be a whole number from 0`)
  }
  if (rule.concurrent !== undefined && !isCount(rule.concurrent, 1)) {
    refuse('concurrent must be a whole number from 1')
  }
  for (const field of ['constrain', 'revoked'] as const) {
    if (rule[field] !== undefined && typeof rule[field] !== 'function') refuse(`${field} must be a function`)
  }
  if (rule.within !== undefined && !isAllowance(rule.within))
    refuse('within must be an allowance: an object with reserve and receive')
  if (rule.approve !== undefined && typeof rule.approve !== 'boolean') refuse('approve must be true or false')
  if (rule.rate !== undefined) {
    const { calls, perMs } = rule.rate as { calls?: unknown; perMs?: unknown }
    if (!isCount(calls, 1) || (calls as number) > 10_000) refuse('rate.calls must be from 1 to 10,000')
    if (!isCount(perMs, 1)) refuse('rate.perMs must be a whole number of milliseconds from 1')
    rule.rate = Object.freeze({ calls, perMs })
  }
  if (rule.budgets !== undefined) {
    const budgets = Object.entries(rule.budgets as object)
    for (const [unit, amount] of budgets) {
      if (typeof amount !== 'number' || !(amount >= 0 && amount < Number.POSITIVE_INFINITY)) {
        refuse(`the budget for "${unit.slice(0, 80)}" must be a finite number from 0`)
      }
    }
    rule.budgets = Object.freeze(Object.fromEntries(budgets))
    if (budgets.length > 0 && capability.cost === undefined) {
      refuse('budgets need a `cost` in the definition of the capability, or nothing would ever be taken')
    }
  }
  if (capability.sync === true && rule.approve === true) {
    refuse('a sync capability is answered inside a turn and cannot wait for a person')
  }
  if (capability.sync === true && rule.concurrent !== undefined) {
    refuse('a sync capability is never called concurrently')
  }
  return Object.freeze(rule) as unknown as GrantRule
}

function isAllowance(value: unknown): boolean {
  const { reserve, receive } = (
    typeof value === 'object' && value !== null ? value : {}
  ) as Partial<Allowance>
  return typeof reserve === 'function' && typeof receive === 'function'
}

function isCount(value: unknown, min: number): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= min
}
