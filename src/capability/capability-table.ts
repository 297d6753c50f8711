/**
 * All capabilities that an embedder registered, by name.
 *
 * Invariants
 * 1. Look-up is by own name only: `__proto__` and the like find nothing.
 * 2. No name is another's namespace: `prices` and `prices.lookup` cannot both be globals of one guest.
 */
import { CaissonError } from '../base/errors.ts'
import type { Capability } from './capability.ts'
import { checkCapability } from './define-capability.ts'
import { nearNames } from './near-names.ts'

/** Capabilities by name. Read-only after it was made. */
export interface CapabilityTable {
  readonly names: readonly string[]
  /** Those that continue another one. */
  readonly continuations: readonly Capability[]
  /** The capability, or `undefined`. */
  find(name: string): Capability | undefined
  /** @throws CaissonError `unknown_capability` with near misses in the message and in `details.near` */
  get(name: string): Capability
}

/**
 * Checks every definition (those that did not pass through `capability()` too) and their names together.
 * @throws CaissonError `invalid_capability` for a bad definition, a name used twice or a name that is another's namespace
 */
export function createCapabilityTable(capabilities: Iterable<Capability>): CapabilityTable {
  const byName = new Map<string, Capability>()
  for (const given of capabilities) {
    const checked = checkCapability(given)
    if (byName.has(checked.name)) {
      throw new CaissonError('invalid_capability', `Two capabilities have the name "${checked.name}".`, {
        details: { capability: checked.name, field: 'name' },
      })
    }
    byName.set(checked.name, checked)
  }
  for (const name of byName.keys()) {
    for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
      const namespace = name.slice(0, dot)
      if (byName.has(namespace)) {
        throw new CaissonError(
          'invalid_capability',
          `"${namespace}" is a capability and cannot also be the namespace of "${name}". Rename one of them.`,
          { details: { capability: name, field: 'name' } },
        )
      }
    }
  }
  const continuations = Object.freeze([...byName.values()].filter(({ continues }) => continues !== undefined))
  for (const { name, continues = '' } of continuations) {
    const continued = byName.get(continues)
    if (continued !== undefined && (continued.sync === true || continued.continues !== undefined)) {
      throw new CaissonError(
        'invalid_capability',
        `"${name}" continues "${continues}", which is answered at once or continues something itself.`,
        { details: { capability: name, field: 'continues' } },
      )
    }
  }
  const names = Object.freeze([...byName.keys()])
  return Object.freeze({
    names,
    continuations,
    find: (name: string) => byName.get(name),
    get(name: string): Capability {
      const found = byName.get(name)
      if (found !== undefined) return found
      const near = nearNames(name, names)
      const shown = name.slice(0, 120)
      const hint =
        near.length > 0
          ? ` Did you mean ${near.map((n) => `"${n}"`).join(' or ')}?`
          : names.length > 0
            ? ` There are: ${names.slice(0, 10).join(', ')}${names.length > 10 ? ', ...' : ''}.`
            : ' No capabilities were registered.'
      const wildcard = name.includes('*') ? ' Wildcards are not supported: name each capability.' : ''
      throw new CaissonError('unknown_capability', `There is no capability "${shown}".${wildcard}${hint}`, {
        details: { capability: shown, near },
      })
    },
  })
}
