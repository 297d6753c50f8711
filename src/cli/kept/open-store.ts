/** The store that runs are kept in, opened for a command. */
import { resolve } from 'node:path'
import { openDirectoryRunStore } from '../../../host-bindings/store/node/directory-run-store.node.ts'
import { CaissonError } from '../../base/errors.ts'
import { clipText } from '../../base/escape-text.ts'
import type { RunStore } from '../../ports/run-store.ts'
import { CliError } from '../cli-error.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { shellQuote } from '../render/shell-quote.ts'
import { kindOf } from './checkpoint-file.ts'
import type { StorePlace } from './store-place.ts'

const EXITS: ReadonlyMap<string, ExitCode> = new Map([
  ['invalid_argument', EXIT.usage],
  ['not_found', EXIT.usage],
  ['unsupported', EXIT.refusedInput],
  ['corrupted', EXIT.refusedInput],
])

const NO_FOLDER: ReadonlySet<string> = new Set([
  'EEXIST',
  'ENOTDIR',
  'ENOENT',
  'EACCES',
  'EPERM',
  'EROFS',
  'ELOOP',
  'ENAMETOOLONG',
])

const HINTS: Readonly<Record<StorePlace['kind'], string>> = {
  directory: 'Name an empty folder, one that does not exist yet, or one that runs are kept in.',
  sqlite: 'Name a file that does not exist yet, or one that runs are kept in: sqlite:FILE.',
  postgres:
    'See whether the server can be reached, and whether user and database are right. The password may stand in the environment: PGPASSWORD.',
}
const INSTALL: Readonly<Record<string, string>> = {
  sqlite: 'npm install better-sqlite3@12',
  postgres: 'npm install pg',
}

/**
 * Opens the store in `place`, and makes it where it is missing.
 * @throws CliError
 */
export async function makeStore(place: StorePlace): Promise<RunStore> {
  return open(place, false)
}

/**
 * Opens a store that exists: looking for runs makes none.
 * @throws CliError usage where there is none
 */
export async function openStore(place: StorePlace): Promise<RunStore> {
  const { kind, at } = place
  if (kind !== 'directory') return open(place, true)
  // A store that was begun and not finished has no format yet: then there are no runs either.
  if ((await kindOf(at)) === 'directory' && (await kindOf(resolve(at, 'format'))) === 'file') {
    return open(place, true)
  }
  throw noStore(place)
}

async function open(place: StorePlace, mustExist: boolean): Promise<RunStore> {
  try {
    return await openKind(place, mustExist)
  } catch (error) {
    if (!CaissonError.is(error)) throw error
    if (error.code === 'not_found') throw noStore(place, error)
    const missing = error.code === 'unsupported' && error.cause !== undefined
    throw new CliError({
      exit: cannotBeFolder(error) ? EXIT.usage : (EXITS.get(error.code) ?? EXIT.internal),
      code: error.code,
      message: `The store "${clipText(place.name, 200)}" cannot be used: ${error.message}`,
      hint: (missing ? INSTALL[place.kind] : undefined) ?? HINTS[place.kind],
      cause: error,
    })
  }
}

/** Drivers of databases are loaded where they are used. */
async function openKind({ kind, at, schema }: StorePlace, mustExist: boolean): Promise<RunStore> {
  switch (kind) {
    case 'directory':
      return openDirectoryRunStore(at)
    case 'sqlite': {
      const { openSqliteRunStore } = await import(
        '../../../host-bindings/store/sqlite/sqlite-run-store.node.ts'
      )
      return openSqliteRunStore(at, { mustExist })
    }
    case 'postgres': {
      const { openPostgresRunStore } = await import(
        '../../../host-bindings/store/postgres/postgres-run-store.node.ts'
      )
      return openPostgresRunStore({ connectionString: at, mustExist, ...(schema && { schema }) })
    }
  }
}

function noStore({ name }: StorePlace, cause?: CaissonError): CliError {
  return new CliError({
    exit: EXIT.usage,
    code: 'usage',
    message: `There is no store of runs in "${clipText(name, 200)}".`,
    hint: `caisson run FILE --store ${shellQuote(name)} makes one.`,
    cause,
  })
}

/** Whether the name that was given is one under which no folder can be, or none may be made. */
function cannotBeFolder({ cause }: CaissonError): boolean {
  const { code } = (cause ?? {}) as { readonly code?: unknown }
  return typeof code === 'string' && NO_FOLDER.has(code)
}
