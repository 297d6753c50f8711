/**
 * What a person names with `--store`: a folder, `sqlite:FILE`, or `postgres://…`.
 *
 * Invariants
 * 1. What is shown of it, in messages and in commands to type, has no password.
 * 2. What looks like an address of another kind is no folder: a slip of the finger would keep runs where nobody looks.
 */
import { resolve } from 'node:path'
import { clipText } from '../../base/escape-text.ts'
import { CliError } from '../cli-error.ts'
import { EXIT } from '../exit-code.ts'

export interface StorePlace {
  /** As it may be shown and typed again. */
  readonly name: string
  readonly kind: 'directory' | 'sqlite' | 'postgres'
  /** The folder or the file, absolute; or how to connect, with the password. */
  readonly at: string
  /** Of a database that has more than one store. */
  readonly schema?: string | undefined
}

const SQLITE = 'sqlite:'
/** One letter is a drive of Windows. */
const SCHEME = /^([a-z][a-z0-9+.-]+):/i
const SECRET = /pass|secret|token/i

/** @throws CliError usage for an address that is none */
export function placeOf(typed: string, cwd: string): StorePlace {
  // What is copied brings blanks along, behind which no scheme is seen.
  const given = SCHEME.test(typed.trim()) ? typed.trim() : typed
  if (/^postgres(?:ql)?:/i.test(given)) return databaseOf(given)
  if (given.startsWith(SQLITE)) {
    return { name: given, kind: 'sqlite', at: resolve(cwd, given.slice(SQLITE.length)) }
  }
  const [, scheme] = SCHEME.exec(given) ?? []
  if (scheme !== undefined) throw unknownScheme(scheme, given.slice(scheme.length + 1))
  return folderOf(given, cwd)
}

/** Invariants 1 and 2: of an address that may have a password, the scheme alone is quoted. */
function unknownScheme(scheme: string, rest: string): CliError {
  const shown = clipText(scheme, 40)
  const file = /^sq/i.test(scheme) && !/^\/\/|@/.test(rest) && rest !== ''
  return new CliError({
    exit: EXIT.usage,
    code: 'usage',
    message: `--store with "${shown}:", which is no kind of store.`,
    hint: file
      ? `Did you mean sqlite:${clipText(rest, 200)}?`
      : 'Name a folder, sqlite:FILE, or postgres://USER@HOST:PORT/DATABASE. A folder with such a name is ./NAME.',
  })
}

/** A folder, whatever its name looks like. */
export function folderOf(given: string, cwd: string): StorePlace {
  return { name: given, kind: 'directory', at: resolve(cwd, given) }
}

/** What no program may write to. */
export function pathsOfPlace({ kind, at }: StorePlace): readonly string[] {
  return kind === 'postgres' ? [] : [at]
}

/** Invariant 1. */
function databaseOf(given: string): StorePlace {
  if (!/^postgres(?:ql)?:\/\//i.test(given) || !URL.canParse(given)) {
    throw new CliError({
      exit: EXIT.usage,
      code: 'usage',
      message: '--store with an address that is none.',
      hint: 'Name a database like this: postgres://USER@HOST:PORT/DATABASE, with ?schema=NAME where it has several stores.',
    })
  }
  const url = new URL(given)
  const shown = new URL(given)
  shown.password = ''
  for (const key of new Set(shown.searchParams.keys())) {
    if (SECRET.test(key)) shown.searchParams.delete(key)
  }
  const schema = url.searchParams.get('schema') ?? undefined
  url.searchParams.delete('schema')
  return { name: shown.href, kind: 'postgres', at: url.href, schema }
}
