/** Ready-made capabilities for every platform, and what they are made of. */
export { createApprovalCapabilities } from '../../host-bindings/approvals/approval-capabilities.ts'
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
export type { FetchOptions, HttpMethod } from '../../host-bindings/fetch/fetch-options.ts'
export type { Headers as HttpHeaders } from '../../host-bindings/fetch/headers.ts'
export { isPublicSuffix } from '../../host-bindings/fetch/public-suffix.ts'
export {
  createWebFetchCapabilities,
  type WebFetchOptions,
} from '../../host-bindings/fetch/web-fetch-capabilities.ts'
export type { WebPlatform } from '../../host-bindings/fetch/web-transport.ts'
export { createFileCapabilities, type FileOptions } from '../../host-bindings/files/file-capabilities.ts'
export type { FileQuota } from '../../host-bindings/files/file-quota.ts'
export type {
  FileEntry,
  FileKind,
  FileRange,
  FileStat,
  FileTree,
} from '../../host-bindings/files/file-tree.ts'
export {
  createMemoryFileTree,
  type MemoryFileTreeOptions,
} from '../../host-bindings/files/memory-file-tree.ts'
export {
  createKeyValueCapabilities,
  type KeyValueOptions,
} from '../../host-bindings/kv/key-value-capabilities.ts'
export type {
  KeyRange,
  KeyValueEntry,
  KeyValueHead,
  KeyValueQuota,
  KeyValueStore,
} from '../../host-bindings/kv/key-value-store.ts'
export { createMemoryKeyValueStore } from '../../host-bindings/kv/memory-key-value-store.ts'
export {
  createIndexedDbPreparedStore,
  type IndexedDbPreparedStoreOptions,
} from '../../host-bindings/prepared/indexed-db-prepared-store.ts'
export {
  createMemoryPreparedStore,
  type MemoryPreparedStoreOptions,
} from '../../host-bindings/prepared/memory-prepared-store.ts'
export {
  createRandomCapabilities,
  type RandomOptions,
} from '../../host-bindings/random/random-capabilities.ts'
export { createSqlCapabilities, type SqlOptions } from '../../host-bindings/sql/sql-capabilities.ts'
export type { SqlDatabase, SqlTransaction } from '../../host-bindings/sql/sql-database.ts'
export {
  type IndexedDbRunStoreOptions,
  openIndexedDbRunStore,
} from '../../host-bindings/store/indexed-db-run-store.ts'
export {
  createMemoryRunStore,
  type MemoryRunStoreOptions,
} from '../../host-bindings/store/memory-run-store.ts'
export { createFixedClock, type FixedClock, systemClock } from '../../host-bindings/system/system-clock.ts'
export { createSeededEntropy, systemEntropy } from '../../host-bindings/system/system-entropy.ts'
export { type OpenTelemetryOptions, openTelemetry } from '../../host-bindings/telemetry/open-telemetry.ts'
export type {
  OpenTelemetryApi,
  OpenTelemetryMeter,
  OpenTelemetryTracer,
} from '../../host-bindings/telemetry/open-telemetry-api.ts'
