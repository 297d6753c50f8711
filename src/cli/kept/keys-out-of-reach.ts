/** Files of keys, and what programs reach: a key that a program can read or change is none any more. */
import { realpath } from 'node:fs/promises'
import { resolve, sep } from 'node:path'
import { clipText } from '../../base/escape-text.ts'
import { CliError } from '../cli-error.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'

const KEY_FLAGS = ['sign-key', 'key-file'] as const

/** @param scope what the rights reach, directories by their real paths. @throws CliError usage */
export async function checkKeysOutOfReach(
  given: GivenFlags,
  scope: readonly string[],
  cwd: string,
): Promise<void> {
  const directories = scope.flatMap((one) => (one.startsWith('read ') ? one.slice('read '.length) : []))
  if (directories.length === 0) return
  for (const flag of KEY_FLAGS) {
    const file = given.value(flag)
    if (file === undefined) continue
    const path = await realpath(resolve(cwd, file)).catch(() => resolve(cwd, file))
    const within = directories.find((directory) => path.startsWith(directory === sep ? sep : directory + sep))
    if (within === undefined) continue
    throw new CliError({
      exit: EXIT.usage,
      code: 'usage',
      message: `--${flag}: "${clipText(file, 200)}" is in ${clipText(within, 200)}, which the program may read.`,
      hint: 'Keep keys outside of what --allow-read and --allow-write open.',
    })
  }
}
