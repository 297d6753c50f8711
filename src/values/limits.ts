/**
 * Bounds on one value that crosses a border. Checked while it is read, before anything is copied.
 *
 * The canonical size rule, the same for the host's walk, the bridge and the budgets:
 *
 * - Every place that holds a value is one node: the root, an element, a property, a key or a value of a Map,
 *   an element of a Set, the cause of an error, the buffer behind a view. A place that holds an object met
 *   before (shared or cyclic) is one node of 8 bytes, and what it holds is not counted again.
 * - An array costs one node per element of its `length`, holes included, so `new Array(2 ** 32 - 1)` is refused.
 * - Bytes: a string costs its length in UTF-16 units, a property key likewise (a key is no node), a buffer its
 *   byteLength, a bigint the bytes of its magnitude but at least 8, a hole and everything else 8. A RegExp adds
 *   its source and flags, an error its name and message.
 * - Depth: the number of containers (object, array, Map, Set, error) on the shortest way from the root,
 *   the innermost included. A primitive has depth 0, `[]` 1, `[[]]` 2.
 */
export interface ValueLimits {
  /** Canonical size in bytes. */
  readonly bytes: number
  /** Places that hold a value; a shared object counts its content once. */
  readonly nodes: number
  /** Nesting of containers. */
  readonly depth: number
}

export const DEFAULT_VALUE_LIMITS: ValueLimits = { bytes: 16 * 1024 * 1024, nodes: 1_000_000, depth: 500 }
