/**
 * Opens the store that a place names: `sqlite:FILE`, `postgres://…#SCHEMA`, or a folder.
 */
import { openRunStoreIn } from '../../host-bindings/store/node/directory-run-store.node.ts'
import { thisMachine } from '../../host-bindings/store/node/machine.node.ts'
import { openFolder } from '../../host-bindings/store/node/store-root.node.ts'
import { openPostgresRunStore } from '../../host-bindings/store/postgres/postgres-run-store.node.ts'
import { loadSqlite } from '../../host-bindings/store/sqlite/open-database.node.ts'
import { openSqliteRunStoreWith } from '../../host-bindings/store/sqlite/sqlite-run-store.node.ts'
import type { RunStore } from '../../src/ports/run-store.ts'
import { watchFolder } from './watched-folder.ts'
import { watchSqlite } from './watched-sqlite.ts'

/** @param before is called before each operation of a folder, which waits for it, or of SQLite, with its number */
export async function openStoreAt(
  place: string,
  before: (number: number) => void | Promise<void> = () => {},
): Promise<RunStore> {
  if (place.startsWith('sqlite:')) {
    const driver = watchSqlite(await loadSqlite(), { before: ({ number }) => void before(number) })
    return openSqliteRunStoreWith(driver, place.slice('sqlite:'.length), {}, thisMachine())
  }
  if (place.startsWith('postgres://')) {
    const [connectionString = '', schema = ''] = place.split('#')
    return openPostgresRunStore({ connectionString, schema })
  }
  const watched = watchFolder(await openFolder(place), { before: ({ number }) => before(number) })
  return openRunStoreIn(watched, thisMachine())
}
