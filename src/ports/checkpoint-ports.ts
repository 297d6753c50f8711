/** What a host brings so that checkpoints can be written and read. */
import type { Cipher } from './cipher.ts'
import type { Codec } from './codec.ts'
import type { Entropy } from './entropy.ts'
import type { Hash } from './hash.ts'

export interface CheckpointPorts {
  readonly codec: Codec
  readonly hash: Hash
  readonly cipher: Cipher
  /** Nonces come from it: never a seeded one where checkpoints are encrypted. */
  readonly entropy: Entropy
  /** Lets the timers and sockets of the host have their turn, then resolves: soon, not after a fixed time. */
  readonly pause: () => Promise<void>
}
