/** What a checkpoint says of itself, without the keys and the parents that it needs. */
import type { Digest } from '../../base/digest.ts'
import type { CheckpointPorts } from '../../ports/checkpoint-ports.ts'
import type { CheckpointHeader } from './checkpoint.ts'
import { type CheckpointLimits, parseCheckpointLimits } from './checkpoint-limits.ts'
import { splitContainer } from './container-parts.ts'
import { Pacer } from './pacer.ts'

export interface InspectedCheckpoint extends CheckpointHeader {
  readonly id: Digest
  /** As stored. */
  readonly fileBytes: number
  readonly stateBytes: number
  /** Pages that it says something about: all that differ from the parent, or from the base image. */
  readonly pages: number
  /** The id of the key that it says it is authenticated with. Not verified. */
  readonly macKey?: string
  /** The id of the key that it is encrypted with. */
  readonly encryptionKey?: string
}

/**
 * Reads the header. The bytes are whole (their digest is right), which anybody can bring about: nothing of what is
 * returned may decide anything. `bytes` must not change until the promise has settled.
 * @throws CaissonError `checkpoint_too_large`, `corrupted`
 */
export async function inspectCheckpoint(
  bytes: Uint8Array,
  options: {
    readonly ports: Pick<CheckpointPorts, 'hash' | 'pause'>
    readonly limits?: Partial<CheckpointLimits>
  },
): Promise<InspectedCheckpoint> {
  const { ports, limits } = options
  const pacer = new Pacer(ports.pause)
  const { id, header } = await splitContainer(bytes, parseCheckpointLimits(limits), ports.hash, pacer)
  const { nonce: _, ...shown } = header
  return { ...shown, id, fileBytes: bytes.length }
}
