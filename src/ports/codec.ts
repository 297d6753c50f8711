/**
 * Raw deflate (RFC 1951), for checkpoints.
 *
 * What is small is answered at once where the platform can; what is large never blocks the host for more than a few
 * milliseconds. The output depends on the platform: nothing is addressed by compressed bytes that were made twice.
 */
export interface Codec {
  /** The bytes, compressed: fast rather than small. */
  deflate(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>
  /**
   * The bytes that were compressed. The input may be hostile: no more than `maxBytes` (and what the platform reads
   * ahead, up to 2 MiB) is ever allocated for it.
   * @throws CaissonError `corrupted` when the input is no deflate stream, gives more than `maxBytes`, ends early, or,
   *   where the platform notices it, when bytes follow it
   */
  inflate(bytes: Uint8Array, maxBytes: number): Uint8Array | Promise<Uint8Array>
}
