/**
 * Files of keys, read.
 *
 * Invariant: a file that others may read or change is refused, as keys that are not secret protect nothing; no message
 * carries anything of what is in it.
 */
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { clipText } from '../../base/escape-text.ts'
import { CliError } from '../cli-error.ts'
import { EXIT } from '../exit-code.ts'
import { shellQuote } from '../render/shell-quote.ts'

const MOST_BYTES = 64 * 1024
/** Reading, writing or listing by anybody but the owner. */
const OTHERS = 0o077

/** @param flag that names the file, without dashes. @throws CliError usage where it cannot be read, refused input where others may */
export async function readSecretFile(flag: string, file: string, cwd: string): Promise<string> {
  let handle: FileHandle | undefined
  try {
    // Not waiting for a pipe that nobody writes to.
    handle = await open(resolve(cwd, file), constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    const stats = await handle.stat()
    if (!stats.isFile() || stats.size > MOST_BYTES)
      throw refusedSecret(flag, file, 'It is no file of at most 64 KiB.')
    if (process.platform !== 'win32' && (stats.mode & OTHERS) !== 0)
      throw refusedSecret(
        flag,
        file,
        'Others than its owner may read or change it.',
        `chmod 600 ${shellQuote(file)}`,
      )
    return await handle.readFile('utf8')
  } catch (error) {
    if (error instanceof CliError) throw error
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    throw new CliError({
      exit: EXIT.usage,
      code: 'usage',
      message: `--${flag}: "${clipText(file, 200)}" cannot be read (${code}).`,
      hint: 'Check the path and its rights.',
      cause: error,
    })
  } finally {
    await handle?.close()
  }
}

export function refusedSecret(flag: string, file: string, problem: string, hint?: string): CliError {
  return new CliError({
    exit: EXIT.refusedInput,
    code: 'invalid_argument',
    message: `--${flag}: "${clipText(file, 200)}" is not taken. ${problem}`,
    ...(hint !== undefined && { hint }),
  })
}
