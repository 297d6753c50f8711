/**
 * What a person names with `--store`: a folder, `sqlite:FILE`, or `postgres://…`.
 *
 * Invariants
 * 1. What is shown of it, in messages and in commands to type, has no password.
 */
import { resolve } from 'node:path'
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
const SECRET = /pass|secret|token/i

/** @throws CliError usage for an address that is none */
export function placeOf(given: string, cwd: string): StorePlace {
  if (/^postgres(?:ql)?:/i.test(given)) return databaseOf(given)
  if (given.startsWith(SQLITE)) {
    return { name: given, kind: 'sqlite', at: resolve(cwd, given.slice(SQLITE.length)) }
  }
  return folderOf(given, cwd)
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
