/**
 * AES-256-GCM (NIST SP 800-38D), with a nonce of 12 bytes and a tag of 16 bytes that follows the ciphertext.
 *
 * A nonce must never be used twice with one key.
 */
export interface Cipher {
  /** The ciphertext, as long as `plain`, and the tag. `additional` is authenticated with it and stays readable. */
  encrypt(
    key: Uint8Array,
    nonce: Uint8Array,
    additional: Uint8Array,
    plain: Uint8Array,
  ): Uint8Array | Promise<Uint8Array>
  /** Undefined unless all of it is exactly what was encrypted with this key. */
  decrypt(
    key: Uint8Array,
    nonce: Uint8Array,
    additional: Uint8Array,
    sealed: Uint8Array,
  ): Uint8Array | undefined | Promise<Uint8Array | undefined>
}
