/** Stage: which capability is meant, and whether this guest holds a grant of it. */
import type { Refusal } from '../call.ts'
import type { GrantSet } from '../grant-set.ts'
import { nearNames } from '../near-names.ts'
import type { Passage } from './passage.ts'
import { refuse, shortName } from './refuse.ts'

/** Near misses are looked for among the granted names only: a guest learns nothing about the others by guessing. */
export function resolve(
  name: string,
  passages: ReadonlyMap<string, Passage>,
  grants: GrantSet,
): Passage | Refusal {
  const passage = passages.get(name)
  if (passage !== undefined) return passage
  const shown = shortName(name)
  if (grants.isRegistered(name)) return refuse('not_granted', `This guest has no grant for "${shown}".`)
  const near = nearNames(name, passages.keys())
  const hint = near.length > 0 ? ` Did you mean ${near.map((n) => `"${n}"`).join(' or ')}?` : ''
  return refuse('unknown_capability', `There is no capability "${shown}".${hint}`)
}
