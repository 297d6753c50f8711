/** What goes into a module: its bytes, its standard input, its environment. Bounded, whatever files are. */

import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { concatBytes } from '../../base/bytes.ts'
import { clipText } from '../../base/escape-text.ts'
import { MOST_BINARY_BYTES } from '../../component/core/inspect-binary.ts'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import { EXIT } from '../exit-code.ts'
import { showSize } from '../units/parse-size.ts'

/** @throws CliError */
export async function readFileBytes(file: string, what: string, io: CliIo): Promise<Uint8Array> {
  try {
    const handle = await open(resolve(io.cwd, file), 'r')
    try {
      const stats = await handle.stat()
      if (stats.isDirectory()) throw unreadable(what, file, 'it is a directory')
      if (stats.size > MOST_BINARY_BYTES)
        throw unreadable(what, file, `it has more than ${showSize(MOST_BINARY_BYTES)}`)
      return await collect(handle.createReadStream({ autoClose: false }), what, file)
    } finally {
      await handle.close()
    }
  } catch (cause) {
    if (cause instanceof CliError) throw cause
    const { code } = cause as NodeJS.ErrnoException
    throw unreadable(
      what,
      file,
      code === 'ENOENT' ? 'there is no such file' : (code ?? 'it cannot be opened'),
      cause,
    )
  }
}

/** @throws CliError */
export async function readStdin(given: string | undefined, io: CliIo): Promise<string | Uint8Array> {
  if (given === undefined) return ''
  if (given === '@-') return collect(io.stdin(), 'input', '-')
  return given.startsWith('@') ? readFileBytes(given.slice(1), 'input', io) : given
}

/** @throws CliError usage */
export function readEnv(given: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    given.map((one) => {
      const at = one.indexOf('=')
      if (at > 0) return [one.slice(0, at), one.slice(at + 1)]
      throw new CliError({
        exit: EXIT.usage,
        code: 'usage',
        message: `--env takes NAME=VALUE, not "${clipText(one, 80)}".`,
        hint: 'caisson run --help',
      })
    }),
  )
}

async function collect(source: AsyncIterable<Uint8Array>, what: string, file: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of source) {
    size += chunk.length
    if (size > MOST_BINARY_BYTES)
      throw unreadable(what, file, `it has more than ${showSize(MOST_BINARY_BYTES)}`)
    chunks.push(chunk)
  }
  return concatBytes(chunks, size)
}

function unreadable(what: string, file: string, why: string, cause?: unknown): CliError {
  return new CliError({
    exit: EXIT.usage,
    code: 'usage',
    message: `The ${what} ${clipText(file, 200)} cannot be read: ${why}.`,
    hint: 'Check the path.',
    ...(cause !== undefined && { cause }),
  })
}
