/** Bounds on one value that crosses a border. Checked while it is read, before anything is copied. */
export interface ValueLimits {
  /** Canonical size in bytes: strings and binary data by their length, 8 for every other node. */
  readonly bytes: number
  /** Nodes, where a shared object counts once and a cyclic reference costs one. */
  readonly nodes: number
  /** Nesting. */
  readonly depth: number
}

export const DEFAULT_VALUE_LIMITS: ValueLimits = { bytes: 16 * 1024 * 1024, nodes: 1_000_000, depth: 500 }
