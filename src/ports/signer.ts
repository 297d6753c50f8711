/**
 * Ed25519 signatures (RFC 8032), by which others can see who wrote something down: whoever has the public key can
 * check them, and nobody without the private one can make them.
 */

/** Signs as one host. */
export interface Signer {
  /** Who signs: 32 bytes. */
  readonly publicKey: Uint8Array
  /** 64 bytes. */
  sign(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>
}

/** Checks signatures of anybody. */
export interface SignatureCheck {
  /**
   * Whether it is the signature of exactly these bytes by the holder of this key. False for keys and signatures that
   * are none.
   */
  isSigned(bytes: Uint8Array, signature: Uint8Array, publicKey: Uint8Array): boolean | Promise<boolean>
}
