/**
 * The canonical encoding of values, version 1: the one that digests and records use.
 *
 * Equal values have equal bytes, and bytes that are accepted are those that the value encodes to. The format is
 * written down byte by byte in docs/value-encoding.md; what follows here is its table of tags.
 *
 * RFC 8785 (JSON Canonicalization Scheme) cannot carry bigints, NaN, -0, undefined, lone surrogates, dates, Maps,
 * binary data, sharing or cycles, and unfolds a small shared graph into an exponential text.
 */

/** The first byte: the version of the format. */
export const CANONICAL_VERSION = 0xc1

/** The first byte of every place. */
export const TAG = {
  undefined: 0x00,
  null: 0x01,
  false: 0x02,
  true: 0x03,
  /** 8 bytes: IEEE 754 binary64, little-endian; the one NaN is 0x7ff8000000000000. */
  number: 0x04,
  /** A varint count of bytes, then the magnitude, little-endian, without leading zeros. */
  bigint: 0x05,
  negativeBigint: 0x06,
  /** A varint count of units, all below 256, then one byte each. */
  latin1: 0x07,
  /** A varint count of units, at least one above 255, then two bytes each, little-endian. */
  utf16: 0x08,
  /** No element here; in arrays only. */
  hole: 0x09,
  /** A varint: the number of an object met before. */
  reference: 0x0a,

  object: 0x10,
  array: 0x11,
  map: 0x12,
  set: 0x13,
  /** Its name, then its message or undefined. */
  error: 0x14,
  errorWithCause: 0x15,

  /** 8 bytes, like a number. */
  date: 0x18,
  /** Its source, then its flags. */
  regexp: 0x19,
  /** The primitive inside. */
  boxed: 0x1a,
  /** A varint count of bytes, then the bytes. */
  buffer: 0x1b,
  /** A byte for the kind, the place of the buffer, varints for offset and length in bytes. */
  view: 0x1c,
} as const

/** Bits of the only NaN, as the high word; the low word is 0. */
export const NAN_HIGH_WORD = 0x7ff80000
