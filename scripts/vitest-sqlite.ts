/** Global set-up of the tests of the SQLite store: better-sqlite3 can be loaded. Runs only where one of them runs. */
import { ensureSqlite } from './ensure-sqlite.ts'

export default ensureSqlite
