/**
 * `random.*`: randomness of the host. The answers are recorded, so that a replay repeats them.
 *
 * A guest's own `Math.random` and `crypto` come from its secret seed; these are for what the host must be able to
 * tell apart from a guest's own numbers, and for fresh values after a restore.
 */
import { checkOptions, withMethods } from '../../src/base/option-checks.ts'
import type { Capability } from '../../src/capability/capability.ts'
import type { Entropy } from '../../src/ports/entropy.ts'
import { defineSyncBinding } from '../define-binding.ts'
import { object } from '../schema/composites.ts'
import { binary, integer, text } from '../schema/scalars.ts'
import { systemEntropy } from '../system/system-entropy.ts'
import { uniformInteger, uuidV4 } from './distributions.ts'

/** Where the randomness comes from. */
export interface RandomOptions {
  /** Default: the platform's cryptographic source. */
  readonly entropy?: Entropy
}

const MAX_BYTES = 65_536

/**
 * The capabilities `random.uuid`, `random.bytes` and `random.integer`; all answer inside the turn.
 * @throws CaissonError `invalid_argument` for what is no source of entropy
 */
export function createRandomCapabilities(options: RandomOptions = {}): readonly Capability[] {
  checkOptions(options, { entropy: withMethods('a source of entropy', 'bytes') })
  const { entropy = systemEntropy } = options
  return [
    defineSyncBinding({
      name: 'random.uuid',
      description: 'A fresh random UUID (version 4), in lower case: `random.uuid()`.',
      sync: true,
      effect: 'read',
      input: object({}),
      output: text({ minLength: 36, maxLength: 36 }),
      invoke: () => uuidV4(entropy),
    }),
    defineSyncBinding({
      name: 'random.bytes',
      description: `Fresh random bytes as a Uint8Array: \`random.bytes({ length: 16 })\`. At most ${MAX_BYTES}.`,
      sync: true,
      effect: 'read',
      input: object({ length: integer({ minimum: 0, maximum: MAX_BYTES }) }),
      output: binary({ maxBytes: MAX_BYTES }),
      invoke: ({ length }) => entropy.bytes(length),
    }),
    defineSyncBinding({
      name: 'random.integer',
      description:
        'A random whole number, every one equally likely, both ends included: `random.integer({ min: 1, max: 6 })`.',
      sync: true,
      effect: 'read',
      input: object({ min: safeInteger, max: safeInteger }),
      output: safeInteger,
      expose: ['invalid_arguments'],
      invoke: ({ min, max }) => uniformInteger(entropy, min, max),
    }),
  ]
}

const safeInteger = integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER })
