/** The vocabulary of the tagged JSON form: see tagged-json.ts. */

/** What `JSON.stringify` writes without loss. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue }

/** The property that marks a form. */
export const TAG_KEY = '$caisson'

/** Bigints of more bits are written in hexadecimal: their decimal form takes more than linear time. */
export const MAX_DECIMAL_BITS = 1024
