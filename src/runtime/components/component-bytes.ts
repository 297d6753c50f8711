/**
 * The bytes of a component, as an embedder gave them: by their digest, and copied where they are needed.
 *
 * Invariant
 * 1. What is used are the bytes that the digest was taken of, whatever becomes of those that were given.
 */
import { type Digest, digestOf } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'

export interface ComponentBytes {
  readonly digest: Digest
  /**
   * A copy that nobody else has.
   * @throws CaissonError `invalid_argument` where there is none of then, and those that were given have changed
   */
  copy(): Uint8Array
}

/**
 * Looks at them at once, before anybody else has a turn.
 *
 * @param isKnown whether a component of this digest was prepared before: it is opened without its bytes as a rule, and
 *   copying a megabyte takes longer than its digest
 */
export function componentBytes(
  given: Uint8Array,
  sha256: (bytes: Uint8Array) => Uint8Array,
  isKnown: (digest: Digest) => boolean,
): ComponentBytes {
  // What other threads may write to is copied before it is looked at.
  const still = given.buffer instanceof ArrayBuffer ? given : new Uint8Array(given)
  const digest = digestOf(sha256(still))
  let own: Uint8Array | undefined
  if (!isKnown(digest)) own = still === given ? new Uint8Array(given) : still
  return {
    digest,
    copy() {
      if (own !== undefined) return own
      const copy = new Uint8Array(given)
      if (digestOf(sha256(copy)) !== digest) {
        throw new CaissonError(
          'invalid_argument',
          'The bytes of the component changed while it was opened. Give it bytes that nobody writes to.',
        )
      }
      own = copy
      return copy
    },
  }
}
