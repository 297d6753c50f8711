import { type Digest, sha256 } from '../base/digest.ts'
import { withCanonical } from './encode-canonical.ts'
import { DEFAULT_VALUE_LIMITS, type ValueLimits } from './limits.ts'

/**
 * The digest of a value: SHA-256 over its canonical encoding. Equal values have equal digests on every runtime.
 * @throws CaissonError `value_refused`, `value_too_large`, `value_too_deep`
 */
export function digestValue(value: unknown, limits: ValueLimits = DEFAULT_VALUE_LIMITS): Digest {
  return withCanonical(value, limits, sha256)
}
