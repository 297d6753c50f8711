/** Everything that checkpoints need, from web standards alone. */
import type { CheckpointPorts } from '../../src/ports/checkpoint-ports.ts'
import { neutralHash } from './neutral-hash.ts'
import { pause } from './pause.ts'
import { systemEntropy } from './system-entropy.ts'
import { webCipher } from './web-cipher.ts'
import { webCodec } from './web-codec.ts'

export const webCheckpointPorts: CheckpointPorts = {
  codec: webCodec,
  hash: neutralHash,
  cipher: webCipher,
  entropy: systemEntropy,
  pause,
}
