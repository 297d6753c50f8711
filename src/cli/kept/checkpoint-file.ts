/**
 * A parked program as one file, with its ledger beside it.
 *
 * Invariants
 * 1. The file holds one whole checkpoint or does not exist: written beside its place, made durable, then renamed.
 * 2. Not more is read than a checkpoint may have.
 */
import { randomBytes } from 'node:crypto'
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { clipText } from '../../base/escape-text.ts'
import { DEFAULT_CHECKPOINT_LIMITS } from '../../snapshot/container/checkpoint-limits.ts'
import { CliError } from '../cli-error.ts'
import { EXIT } from '../exit-code.ts'
import { shellQuote } from '../render/shell-quote.ts'
import { showSize } from '../units/parse-size.ts'

/** Where the ledger of a checkpoint file stands: a store with one run. */
export function ledgerOf(file: string): string {
  return `${file}.ledger`
}

/**
 * Before anything runs: that the file can be made where it is to be, and overwrites nothing.
 * @param path absolute; @param given as the person named it
 * @throws CliError usage
 */
export async function checkNewFile(path: string, given: string): Promise<void> {
  const shown = clipText(given, 200)
  const folder = await kindOf(dirname(path))
  if (folder !== 'directory') {
    throw usage(`--checkpoint ${shown}: there is no directory to write it to.`, 'Make the directory first.')
  }
  for (const [existing, name] of [
    [path, shown],
    [ledgerOf(path), ledgerOf(shown)],
  ] as const) {
    if ((await kindOf(existing)) === undefined) continue
    throw usage(
      `--checkpoint ${shown}: "${name}" exists, and may be all that is left of a parked program.`,
      `Go on with it (caisson resume ${shellQuote(given)}), remove "${shown}" and "${ledgerOf(shown)}", or name another file.`,
    )
  }
}

/** What stands at `path`; undefined where nothing does. */
export async function kindOf(path: string): Promise<'file' | 'directory' | 'other' | undefined> {
  try {
    const stats = await stat(path)
    return stats.isFile() ? 'file' : stats.isDirectory() ? 'directory' : 'other'
  } catch {
    return undefined
  }
}

/** @throws CliError usage where it cannot be read, refused input where it is too large */
export async function readCheckpointFile(path: string, given: string): Promise<Uint8Array> {
  const shown = clipText(given, 200)
  let handle: FileHandle | undefined
  try {
    handle = await open(path, 'r')
    const { size } = await handle.stat()
    if (size > DEFAULT_CHECKPOINT_LIMITS.maxFileBytes) {
      throw new CliError({
        exit: EXIT.refusedInput,
        code: 'checkpoint_too_large',
        message: `"${shown}" has ${showSize(size)}; a checkpoint has at most ${showSize(DEFAULT_CHECKPOINT_LIMITS.maxFileBytes)}.`,
        hint: 'Name a file that caisson run --checkpoint wrote.',
      })
    }
    return new Uint8Array(await handle.readFile())
  } catch (error) {
    if (error instanceof CliError) throw error
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    throw usage(`"${shown}" cannot be read (${code}).`, 'Check the path and its rights.', error)
  } finally {
    await handle?.close()
  }
}

/**
 * @param given as the person named it
 * @param otherwise what goes on with the run where the file could not be written
 * @throws CliError internal: what was at `path` before is still there
 */
export async function writeCheckpointFile(
  path: string,
  given: string,
  bytes: Uint8Array,
  otherwise: string,
): Promise<void> {
  const folder = dirname(path)
  const temporary = join(folder, `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`)
  try {
    await durably(temporary, 'wx', (handle) => handle.writeFile(bytes))
    await rename(temporary, path)
    await durably(folder, 'r', async () => {})
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {})
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    throw new CliError({
      exit: EXIT.internal,
      code: code === 'ENOSPC' || code === 'EDQUOT' ? 'quota_exceeded' : 'store_failed',
      message: `The program is parked, and "${clipText(given, 200)}" could not be written (${code}).`,
      hint: `Nothing is lost: ${otherwise}`,
      cause: error,
    })
  }
}

async function durably(
  path: string,
  flags: string,
  act: (handle: FileHandle) => Promise<void>,
): Promise<void> {
  let handle: FileHandle
  try {
    handle = await open(path, flags, 0o600)
  } catch (error) {
    // Windows opens no directories; there the rename is durable by itself.
    if (flags === 'r' && process.platform === 'win32') return
    throw error
  }
  try {
    await act(handle)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function usage(message: string, hint: string, cause?: unknown): CliError {
  return new CliError({ exit: EXIT.usage, code: 'usage', message, hint, cause })
}
