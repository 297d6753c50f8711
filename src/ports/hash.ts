/** SHA-256 and HMAC-SHA-256, synchronously: as fast as the platform has them. */
export interface Hash {
  /** 32 bytes. */
  sha256(bytes: Uint8Array): Uint8Array
  /** 32 bytes (RFC 2104). */
  hmacSha256(key: Uint8Array, bytes: Uint8Array): Uint8Array
  /** For bytes that are digested in pieces, so that the host has its turns between them. */
  openSha256(): HashStream
  openHmacSha256(key: Uint8Array): HashStream
}

/** Equal to the hash of all pieces in one. */
export interface HashStream {
  update(bytes: Uint8Array): void
  /** Once, at the end. */
  digest(): Uint8Array
}
