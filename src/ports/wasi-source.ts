/** Opens the worlds of WASI guests, and directories in memory for them: what a platform brings so that modules can be run. */
import type { WasiMemoryTree, WasiTree } from './wasi-files.ts'
import type { WasiHost, WasiState, WasiTurns, WasiWorld } from './wasi-host.ts'

/** A tree in memory that knows what its guest changed. */
export interface ChangedTree extends WasiTree {
  readonly memory: WasiMemoryTree
  /** The files that the guest made or changed, by relative path, sorted; copies. */
  changed(): ReadonlyMap<string, Uint8Array>
}

/** Opens a directory of the host for one guest: `nowNs` is that guest's time. */
export type OpenWasiTree = (nowNs: () => bigint) => WasiTree

export interface WasiSource {
  /** @throws CaissonError `invalid_argument`, `invalid_limit`, `corrupted` (the state) */
  openHost(world: WasiWorld, turns: WasiTurns, state?: WasiState): WasiHost
  /**
   * @param files to begin with, by relative path; their bytes must not change while the tree lives
   * @throws CaissonError `invalid_argument` for an impossible path, `quota_exceeded`
   */
  openMemoryTree(files: Readonly<Record<string, Uint8Array>>, nowNs: () => bigint): ChangedTree
}
