/** Stage: may this worker still act for the run? Asked last before every attempt. */
import type { Refusal } from '../call.ts'
import type { GateParts } from './gate-parts.ts'
import { isThenable } from './is-thenable.ts'
import { refuseFatally } from './refuse.ts'

/** Undefined when held. A lease that cannot be asked is not held. */
export function checkLease(parts: GateParts): Refusal | undefined | Promise<Refusal | undefined> {
  const { lease } = parts
  if (lease === undefined) return undefined
  try {
    const held = lease.held()
    if (held === true) return undefined
    if (isThenable(held)) {
      return held.then(
        (later) => (later === true ? undefined : leaseLost()),
        () => leaseLost(),
      )
    }
  } catch {
    // Not held.
  }
  return leaseLost()
}

/** The end of a run that somebody else has by now. */
export function leaseLost(): Refusal {
  return refuseFatally('lease_lost', 'The run is held by another worker now.')
}
