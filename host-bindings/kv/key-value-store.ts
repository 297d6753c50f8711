/** The port behind `kv.*`: small values under string keys, with versions for optimistic concurrency. */

/** What is stored under a key. */
export interface KeyValueEntry {
  readonly key: string
  readonly value: Uint8Array
  /** Grows with every write to the store and never repeats, so that a key that was deleted and made again differs. */
  readonly version: number
}

/** An entry without its value, for lists. */
export interface KeyValueHead {
  readonly key: string
  readonly version: number
  /** Size of the value in bytes. */
  readonly bytes: number
}

/** Which keys to list. Keys are ordered by UTF-16 code units, as JavaScript compares strings. */
export interface KeyRange {
  readonly prefix: string
  /** Only keys after this one. */
  readonly after?: string
  /** At most this many, 1 or more. */
  readonly limit: number
}

/**
 * A store of one trust domain. Every method is atomic: it happens wholly or not at all, one after the other.
 *
 * Version 0 stands for "not there": `set(key, value, 0)` creates only.
 */
export interface KeyValueStore {
  get(key: string): Promise<KeyValueEntry | undefined>
  /**
   * Writes, unless the stored version is another than `ifVersion`. Gives the new version, or undefined where it
   * did not write.
   * @throws CaissonError `quota_exceeded`; then nothing has changed
   */
  set(key: string, value: Uint8Array, ifVersion?: number): Promise<number | undefined>
  /** Whether it deleted: false where nothing was there, or another version than `ifVersion`. */
  delete(key: string, ifVersion?: number): Promise<boolean>
  list(range: KeyRange): Promise<readonly KeyValueHead[]>
}

/** What a store may hold. Sizes in bytes; keys count with their UTF-8 length. */
export interface KeyValueQuota {
  /** Default 10,000. */
  readonly keys: number
  /** Longest key. Default 512. */
  readonly keyBytes: number
  /** Largest single value. Default 256 KiB. */
  readonly valueBytes: number
  /** All keys and values together. Default 16 MiB. */
  readonly totalBytes: number
}

export const DEFAULT_KEY_VALUE_QUOTA: KeyValueQuota = {
  keys: 10_000,
  keyBytes: 512,
  valueBytes: 256 * 1024,
  totalBytes: 16 * 1024 * 1024,
}
