/** A page of memory, and how digests of pages are taken. */

/** `PAGE_BYTES` of memory; undefined stands for zeros. */
export type Page = Uint8Array | undefined

/** SHA-256: 32 bytes. */
export type HashBytes = (bytes: Uint8Array) => Uint8Array
