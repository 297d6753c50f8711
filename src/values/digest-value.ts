import { type Digest, sha256 } from '../base/digest.ts'
import { encodeCanonical } from './encode-canonical.ts'
import type { ValueLimits } from './limits.ts'

/**
 * The digest of a value: SHA-256 over its canonical encoding. Equal values have equal digests on every runtime.
 * @throws CaissonError `value_refused`, `value_too_large`, `value_too_deep`
 */
export function digestValue(value: unknown, limits?: ValueLimits): Digest {
  return sha256(encodeCanonical(value, limits))
}
