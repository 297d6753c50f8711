/** SQLite as a guest: a database is a file in a directory that it is granted. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Runtime } from '../../src/entry/node.ts'

export type Row = readonly (string | number | null)[]

export interface Queried {
  readonly rows: readonly Row[]
  /** The database as the guest left it. */
  readonly database: Uint8Array
  readonly fuel: number
}

export async function readSqlite(): Promise<Uint8Array> {
  return readFile(join(import.meta.dirname, 'sqlite.wasm'))
}

/**
 * Runs SQL on a copy of a database, in memory.
 * @throws Error with what SQLite said, or with the limit that ended it
 */
export async function query(
  runtime: Runtime,
  sqlite: Uint8Array,
  sql: string,
  database?: Uint8Array,
): Promise<Queried> {
  const outcome = await runtime.runModule(sqlite, {
    name: 'sqlite',
    args: ['/data/shop.db'],
    stdin: sql,
    directories: {
      '/data': { files: database === undefined ? {} : { 'shop.db': database }, writable: true },
    },
    limits: { fuel: 2_000_000_000, memoryBytes: 64 * 1024 * 1024 },
    // It waits for nobody, so that nothing of it has to be made suspendable.
    suspendable: false,
  })
  if (outcome.status !== 'completed') throw new Error(`SQLite ended as ${outcome.status}.`)
  const { exitCode, stdout, stderr, files } = outcome.value
  if (exitCode !== 0) throw new Error(textOf(stderr).trim())
  const rows = textOf(stdout)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row)
  return { rows, database: files['/data/shop.db'] ?? database ?? new Uint8Array(), fuel: outcome.usage.fuel }
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}
