/**
 * The grants of one guest: which capabilities it sees, in which order, and which were taken back.
 *
 * Invariants
 * 1. Look-up is by own name only, and only what was named is found, and what continues that.
 * 2. A revoked grant never comes back in the same set.
 * 3. What continues a granted capability is granted with it, without conditions of its own, and taken back with it. What
 *    that grant shares with others, it shares too.
 */
import { CaissonError } from '../base/errors.ts'
import type { Capability } from './capability.ts'
import type { CapabilityTable } from './capability-table.ts'
import type { Grant, GrantRule } from './grant.ts'
import { checkGrantRule } from './grant.ts'

/** One grant as the gate sees it. */
export class HeldGrant {
  readonly capability: Capability
  readonly rule: GrantRule
  /** The grant of the capability that this one continues, where that is granted. */
  readonly continued: HeldGrant | undefined
  #revoked = false

  constructor(capability: Capability, rule: GrantRule, continued?: HeldGrant) {
    this.capability = capability
    this.rule = rule
    this.continued = continued
  }

  revoke(): void {
    this.#revoked = true
  }

  /** Whether the grant was taken back, here or where `rule.revoked` looks. A look-up that throws counts as revoked. */
  get revoked(): boolean {
    if (this.#revoked || this.continued?.revoked === true) return true
    if (this.rule.revoked === undefined) return false
    try {
      if (this.rule.revoked() === false) return false
    } catch {
      // Fails closed: a right that cannot be looked up is not held.
    }
    return true
  }
}

/** The grants of one guest. */
export interface GrantSet {
  /** In the order in which they were granted; the order of a guest's capability indexes. */
  readonly held: readonly HeldGrant[]
  find(name: string): HeldGrant | undefined
  /** Whether the embedder registered a capability of this name, granted or not. */
  isRegistered(name: string): boolean
  /**
   * Takes a grant back. Calls that were not yet invoked are refused as `revoked`; calls at work are let finish.
   * @throws CaissonError `not_granted` when no grant has this name
   */
  revoke(name: string): void
}

/**
 * Resolves grants against the registered capabilities.
 * @throws CaissonError `unknown_capability` (with near misses), `invalid_argument` for an impossible condition or a second grant of the same capability
 */
export function grantSet(table: CapabilityTable, grants: Iterable<Grant>): GrantSet {
  const rules = new Map<string, readonly [Capability, GrantRule]>()
  for (const given of grants) {
    const rule = ruleOf(given)
    const wanted = rule.capability
    const name = typeof wanted === 'string' ? wanted : wanted.name
    const capability = table.get(name)
    if (typeof wanted !== 'string' && wanted !== capability) {
      throw new CaissonError(
        'unknown_capability',
        `The granted capability "${name}" is not the registered one of this name. Register the same object.`,
        { details: { capability: name } },
      )
    }
    if (rules.has(name)) {
      throw new CaissonError('invalid_argument', `"${name}" is granted twice; join the two grants.`, {
        details: { capability: name },
      })
    }
    rules.set(name, [capability, checkGrantRule(rule, capability)])
  }
  for (const capability of table.continuations) {
    const { name, continues = '' } = capability
    const continued = rules.get(continues)
    if (rules.has(name) || continued === undefined) continue
    const { within } = continued[1]
    rules.set(name, [capability, { capability: name, ...(within && { within }) }])
  }
  const byName = hold(rules)
  const held = Object.freeze([...byName.values()])
  return Object.freeze({
    held,
    find: (name: string) => byName.get(name),
    isRegistered: (name: string) => table.find(name) !== undefined,
    revoke(name: string): void {
      const found = byName.get(name)
      if (found === undefined) {
        throw new CaissonError('not_granted', `There is no grant of "${name.slice(0, 120)}" to take back.`)
      }
      found.revoke()
    },
  })
}

/** In the order in which they were granted. */
function hold(rules: ReadonlyMap<string, readonly [Capability, GrantRule]>): Map<string, HeldGrant> {
  const made = new Map<string, HeldGrant>()
  for (const [name, [capability, rule]] of rules) {
    if (capability.continues === undefined) made.set(name, new HeldGrant(capability, rule))
  }
  const held = new Map<string, HeldGrant>()
  for (const [name, [capability, rule]] of rules) {
    // What is continued continues nothing itself: the table says so.
    const continued = made.get(capability.continues ?? '')
    held.set(name, made.get(name) ?? new HeldGrant(capability, rule, continued))
  }
  return held
}

function ruleOf(given: Grant): GrantRule {
  if (typeof given === 'string') return { capability: given }
  const wanted: unknown = typeof given === 'object' && given !== null ? given.capability : undefined
  if (typeof wanted === 'string') return given
  if (typeof wanted === 'object' && wanted !== null && typeof (wanted as Capability).name === 'string') {
    return given
  }
  throw new CaissonError('invalid_argument', 'A grant is a capability name or { capability, ... }.')
}
