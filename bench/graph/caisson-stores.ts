/** The stores in which Caisson keeps runs: in memory, and where they outlive the process. */
import { join } from 'node:path'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { openDirectoryRunStore } from '../../host-bindings/store/node/directory-run-store.node.ts'
import { openPostgresRunStore } from '../../host-bindings/store/postgres/postgres-run-store.node.ts'
import { openSqliteRunStore } from '../../host-bindings/store/sqlite/sqlite-run-store.node.ts'
import { ensureSqlite } from '../../scripts/ensure-sqlite.ts'
import { bytesInFolder, createFolder, type Kept } from './caisson-chains.ts'
import { createDatabase } from './postgres.ts'

/** A store in files. */
export interface KeptInFiles extends Kept {
  /** Closes it. @returns bytes of all its files */
  readonly closedBytes: () => Promise<number>
}

export function keepInMemory(): Kept {
  const store = createMemoryRunStore()
  return { store, remove: () => store.close() }
}

export async function keepInDirectory(): Promise<KeptInFiles> {
  const { path, remove } = createFolder()
  const store = await openDirectoryRunStore(path)
  return inFiles({ store, path, remove })
}

export async function keepInSqlite(): Promise<KeptInFiles> {
  await ensureSqlite()
  const { path, remove } = createFolder()
  const store = await openSqliteRunStore(join(path, 'runs.db'))
  return inFiles({ store, path, remove })
}

export async function keepInPostgres(): Promise<Kept> {
  const store = await openPostgresRunStore({ connectionString: await createDatabase() })
  return { store, remove: () => store.close() }
}

function inFiles({
  store,
  path,
  remove,
}: Pick<Kept, 'store'> & ReturnType<typeof createFolder>): KeptInFiles {
  return {
    store,
    remove: async () => {
      await store.close()
      remove()
    },
    closedBytes: async () => {
      await store.close()
      const bytes = bytesInFolder(path)
      remove()
      return bytes
    },
  }
}
