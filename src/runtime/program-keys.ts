/**
 * What is kept of programs of a run of a plan that has a key of its own, logs and checkpoints with all that the program had
 * in memory, is encrypted under that key: destroying it erases them too, wherever the store still has them.
 */
import type { Hash } from '../ports/hash.ts'
import type { CheckpointKeys } from '../snapshot/container/checkpoint-keys.ts'

/** Written into what is encrypted. */
const KEY_ID = 'key-of-the-run'

/**
 * @param host authenticates as it does elsewhere
 * @param key of the run, which itself encrypts nothing
 */
export function programKeys(
  host: CheckpointKeys | undefined,
  key: Uint8Array,
  { hmacSha256 }: Pick<Hash, 'hmacSha256'>,
): CheckpointKeys {
  const bytes = hmacSha256(key, new TextEncoder().encode('caisson program encryption 1'))
  return { ...(host?.mac && { mac: host.mac }), encryption: { current: { id: KEY_ID, bytes } } }
}
