/** The folder that runs are kept in, opened for a command. */
import { resolve } from 'node:path'
import { openDirectoryRunStore } from '../../../host-bindings/store/node/directory-run-store.node.ts'
import { CaissonError } from '../../base/errors.ts'
import { clipText } from '../../base/escape-text.ts'
import type { RunStore } from '../../ports/run-store.ts'
import { CliError } from '../cli-error.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { shellQuote } from '../render/shell-quote.ts'
import { kindOf } from './checkpoint-file.ts'

const EXITS: ReadonlyMap<string, ExitCode> = new Map([
  ['invalid_argument', EXIT.usage],
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

/**
 * Opens the store in `path`, and makes it where it is missing.
 * @param given as the person named it
 * @throws CliError
 */
export async function makeStore(path: string, given: string): Promise<RunStore> {
  try {
    return await openDirectoryRunStore(path)
  } catch (error) {
    if (!CaissonError.is(error)) throw error
    throw new CliError({
      exit: cannotBeFolder(error) ? EXIT.usage : (EXITS.get(error.code) ?? EXIT.internal),
      code: error.code,
      message: `The store "${clipText(given, 200)}" cannot be used: ${error.message}`,
      hint: 'Name an empty folder, one that does not exist yet, or one that runs are kept in.',
      cause: error,
    })
  }
}

/**
 * Opens a store that exists: looking for runs makes none.
 * @throws CliError usage where there is none
 */
export async function openStore(given: string, cwd: string): Promise<RunStore> {
  const path = resolve(cwd, given)
  // A store that was begun and not finished has no format yet: then there are no runs either.
  if ((await kindOf(path)) === 'directory' && (await kindOf(resolve(path, 'format'))) === 'file') {
    return makeStore(path, given)
  }
  throw new CliError({
    exit: EXIT.usage,
    code: 'usage',
    message: `There is no store of runs in "${clipText(given, 200)}".`,
    hint: `caisson run FILE --store ${shellQuote(given)} makes one.`,
  })
}

/** Whether the name that was given is one under which no folder can be, or none may be made. */
function cannotBeFolder({ cause }: CaissonError): boolean {
  const { code } = (cause ?? {}) as { readonly code?: unknown }
  return typeof code === 'string' && NO_FOLDER.has(code)
}
