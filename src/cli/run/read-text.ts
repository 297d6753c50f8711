/**
 * Reads text that a person named: a file, a pipe or standard input.
 *
 * Invariants
 * 1. Never more than `MAX_TEXT_BYTES` are read, whatever the size says: devices and pipes have none.
 * 2. What is not UTF-8 text is refused, never repaired: a repaired program is another program.
 */
import { type FileHandle, open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { clipText } from '../../base/escape-text.ts'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import { EXIT } from '../exit-code.ts'
import { showSize } from '../units/parse-size.ts'

/** Largest program or input, in bytes. */
const MAX_TEXT_BYTES = 8 * 1024 * 1024

const CHUNK = 64 * 1024

/**
 * The text of `file`; `-` is standard input. A byte order mark is left out.
 * @param what names it in messages: "program", "input"
 * @throws CliError usage where nothing can be read, refused input where it is no text or too large
 */
export async function readText(file: string, what: string, io: CliIo): Promise<string> {
  const bytes = file === '-' ? await collect(io.stdin(), what) : await readFileBytes(file, what, io.cwd)
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw refuse(what, 'is not UTF-8 text', `Give the ${what} as plain text.`)
  }
  if (text.includes('\0'))
    throw refuse(what, 'contains NUL characters: it is binary', `Give the ${what} as text.`)
  return text
}

async function readFileBytes(file: string, what: string, cwd: string): Promise<Uint8Array> {
  let handle: FileHandle | undefined
  try {
    handle = await open(resolve(cwd, file), 'r')
    const stats = await handle.stat()
    if (stats.isDirectory()) throw missing(what, file, 'is a directory', 'Name one file.')
    if (stats.isFile() && stats.size > MAX_TEXT_BYTES) throw tooLarge(what)
    return await collect(chunksOf(handle), what)
  } catch (error) {
    if (error instanceof CliError) throw error
    throw missing(what, file, reasonOf(error as NodeJS.ErrnoException), 'Check the path.', error)
  } finally {
    await handle?.close()
  }
}

async function* chunksOf(handle: FileHandle): AsyncIterable<Uint8Array> {
  for (;;) {
    const { bytesRead, buffer } = await handle.read(new Uint8Array(CHUNK), 0, CHUNK, null)
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
  }
}

async function collect(chunks: AsyncIterable<Uint8Array>, what: string): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.byteLength
    if (size > MAX_TEXT_BYTES) throw tooLarge(what)
    parts.push(chunk)
  }
  return Buffer.concat(parts)
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  switch (code) {
    case 'ENOENT':
      return 'does not exist'
    case 'EACCES':
    case 'EPERM':
      return 'may not be read'
    case 'ENOTDIR':
      return 'leads through something that is no directory'
    case 'ELOOP':
      return 'leads through too many links'
    case 'ENAMETOOLONG':
      return 'is longer than a path can be'
    case 'ERR_INVALID_ARG_VALUE':
      return 'is no path'
    default:
      return `cannot be read: ${message}`
  }
}

function missing(what: string, file: string, reason: string, hint: string, cause?: unknown): CliError {
  return new CliError({
    exit: EXIT.usage,
    code: 'usage',
    message: `The ${what} "${clipText(file, 200)}" ${reason}.`,
    hint,
    cause,
  })
}

function tooLarge(what: string): CliError {
  return refuse(
    what,
    `is larger than ${showSize(MAX_TEXT_BYTES)}`,
    'Give large data through a capability instead, for example --allow-read DIR.',
  )
}

function refuse(what: string, problem: string, hint: string): CliError {
  return new CliError({
    exit: EXIT.refusedInput,
    code: 'invalid_argument',
    message: `The ${what} ${problem}.`,
    hint,
  })
}
