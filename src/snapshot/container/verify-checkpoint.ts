/** Whether a checkpoint was written by somebody who has a key, without the parents and the engine that it needs. */
import type { CheckpointHeader, DecodeOptions } from './checkpoint.ts'
import { openContainer } from './open-container.ts'
import { Pacer } from './pacer.ts'

/**
 * The header, which is authentic where `options.keys.mac` is given. `bytes` must not change until the promise has
 * settled.
 * @throws CaissonError `corrupted`, `checkpoint_refused`, `checkpoint_too_large`, `encryption_required`
 */
export async function verifyCheckpoint(bytes: Uint8Array, options: DecodeOptions): Promise<CheckpointHeader> {
  return (await openContainer(bytes, options, new Pacer(options.ports.pause))).header
}
