/** What a person confirms when they confirm a call: exactly this one, with these arguments. */
import type { Digest } from '../base/digest.ts'
import type { PendingCall } from '../capability/call.ts'
import { digestValue } from '../values/digest-value.ts'

/**
 * The digest of a call as it was asked for: of its id, its capability and its arguments.
 * @throws CaissonError `value_too_large`, `value_too_deep`
 */
export function callDigest({
  id,
  capability,
  args,
}: Pick<PendingCall, 'id' | 'capability' | 'args'>): Digest {
  return digestValue({ id, capability, args })
}
