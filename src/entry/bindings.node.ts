/** Ready-made capabilities for Node, Bun and Deno: those of every platform, real files and checked addresses. */

export {
  createNodeFetchCapabilities,
  type NodeFetchOptions,
} from '../../host-bindings/fetch/node/node-fetch-capabilities.node.ts'
export type { NodeTransportOptions, Resolve } from '../../host-bindings/fetch/node/node-transport.node.ts'
export {
  type DirectoryFileTree,
  type DirectoryFileTreeOptions,
  openDirectoryFileTree,
} from '../../host-bindings/files/node/directory-file-tree.node.ts'
export {
  type DirectoryPreparedStoreOptions,
  openDirectoryPreparedStore,
} from '../../host-bindings/prepared/node/directory-prepared-store.node.ts'
export { openDirectoryRunStore } from '../../host-bindings/store/node/directory-run-store.node.ts'
export type { PostgresPool } from '../../host-bindings/store/postgres/postgres-pool.ts'
export {
  openPostgresRunStore,
  type PostgresRunStoreOptions,
} from '../../host-bindings/store/postgres/postgres-run-store.node.ts'
export {
  openSqliteRunStore,
  type SqliteRunStoreOptions,
} from '../../host-bindings/store/sqlite/sqlite-run-store.node.ts'
export { createHostTree, type HostTreeOptions } from '../../host-bindings/wasi/node/host-tree.node.ts'
export * from './bindings.ts'
