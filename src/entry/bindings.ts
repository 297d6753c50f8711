/** Ready-made capabilities for every platform, and what they are made of. */
export {
  type ArtifactOptions,
  createArtifactCapabilities,
} from '../../host-bindings/artifacts/artifact-capabilities.ts'
export {
  type Artifact,
  type ArtifactInput,
  type ArtifactStore,
  type ArtifactStoreOptions,
  createArtifactStore,
} from '../../host-bindings/artifacts/artifact-store.ts'
export {
  type CallLogEntry,
  createMemoryCallLog,
  type MemoryCallLog,
  type MemoryCallLogOptions,
} from '../../host-bindings/call-log/memory-call-log.ts'
export { type ClockOptions, createClockCapabilities } from '../../host-bindings/clock/clock-capabilities.ts'
export { createWebFetchCapabilities } from '../../host-bindings/fetch/web-fetch-capabilities.ts'
export { createFileCapabilities, type FileOptions } from '../../host-bindings/files/file-capabilities.ts'
export type { FileEntry, FileTree } from '../../host-bindings/files/file-tree.ts'
export { createMemoryFileTree } from '../../host-bindings/files/memory-file-tree.ts'
export {
  createKeyValueCapabilities,
  type KeyValueOptions,
} from '../../host-bindings/kv/key-value-capabilities.ts'
export type { KeyValueStore } from '../../host-bindings/kv/key-value-store.ts'
export { createMemoryKeyValueStore } from '../../host-bindings/kv/memory-key-value-store.ts'
export {
  createRandomCapabilities,
  type RandomOptions,
} from '../../host-bindings/random/random-capabilities.ts'
export { createSqlCapabilities, type SqlOptions } from '../../host-bindings/sql/sql-capabilities.ts'
export type { SqlDatabase } from '../../host-bindings/sql/sql-database.ts'
export { createFixedClock, systemClock } from '../../host-bindings/system/system-clock.ts'
export { createSeededEntropy, systemEntropy } from '../../host-bindings/system/system-entropy.ts'
