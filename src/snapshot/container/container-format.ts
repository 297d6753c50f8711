/**
 * The checkpoint container, version 1, as numbers: docs/checkpoint-format.md says what they mean, byte by byte; a
 * reader that knows only the document reads what is written with these.
 *
 *     preamble · header · body · [MAC] · digest
 */

/** "CAISSON" and the byte that ends a text file. */
export const MAGIC: Uint8Array = new Uint8Array([0x43, 0x41, 0x49, 0x53, 0x53, 0x4f, 0x4e, 0x1a])

/** What is written. Older ones stay readable. */
export const FORMAT_VERSION = 1

/** Where the fields of the preamble begin. */
export const PREAMBLE = { magic: 0, version: 8, flags: 9, headerBytes: 10, bodyBytes: 12 } as const
export const PREAMBLE_BYTES = 16

/** Bits of the flags. */
export const FLAG = { encrypted: 1, authenticated: 2, delta: 4 } as const
export const KNOWN_FLAGS: number = FLAG.encrypted | FLAG.authenticated | FLAG.delta

/** Of SHA-256 and of HMAC-SHA-256. */
export const DIGEST_BYTES = 32
/** Of AES-256-GCM. */
export const NONCE_BYTES = 12
export const TAG_BYTES = 16

/** A text of the header: UTF-8, in bytes. */
export const MAX_TEXT_BYTES = 4_096

/** By their numbers. */
export const LABELS = ['plain', 'secret'] as const

/** What a section holds. */
export const SECTION = { state: 1, pages: 2, stateChanges: 3 } as const
/** How a section is stored. */
export const METHOD = { stored: 0, deflated: 1 } as const

/** A section, before compression. */
export const MAX_SECTION_BYTES = 1_048_576

/** All sections of a type but the last have at least as much, so that their number follows from the size. */
export const MIN_FULL_SECTION_BYTES = 65_536

/** How a page is told. */
export const PAGE_KIND = { zeros: 0, literal: 1, words: 2 } as const

/** A word is four bytes of a page, as an unsigned little-endian number. */
export const PAGE_WORDS = 1_024

/** How a changed word is told. */
export const WORD = { value: 0, address: 1, previous: 2, recent: 3 } as const

/** How many words are remembered, and the smallest that is. */
export const RECENT_WORDS = 32
export const MIN_RECENT_VALUE = 32
