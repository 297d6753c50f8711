/** Everything that checkpoints need, from Node. */
import type { CheckpointPorts } from '../../src/ports/checkpoint-ports.ts'
import { nodeCipher } from './cipher.node.ts'
import { nodeCodec } from './codec.node.ts'
import { nodeHash } from './hash.node.ts'
import { pause } from './pause.node.ts'
import { systemEntropy } from './system-entropy.ts'

export const nodeCheckpointPorts: CheckpointPorts = {
  codec: nodeCodec,
  hash: nodeHash,
  cipher: nodeCipher,
  entropy: systemEntropy,
  pause,
}
