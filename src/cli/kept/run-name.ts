/** Names of kept runs. */
import { randomInt } from 'node:crypto'
import { clipText } from '../../base/escape-text.ts'
import { isRunName } from '../../runtime/check-options.ts'
import { CliError } from '../cli-error.ts'
import { EXIT } from '../exit-code.ts'

/** Without those that look alike. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789'
const UNIQUE = 6
const LONGEST_STEM = 60

/** The name of the program and a few characters that make it another one each time: `report-k3f9xa`. */
export function newRunName(fileName: string): string {
  const stem = fileName
    .replace(/\.[^.]*$/, '')
    .replace(/[^A-Za-z0-9_-]+/g, '-')
    .slice(0, LONGEST_STEM)
  const unique = Array.from({ length: UNIQUE }, () => LETTERS[randomInt(LETTERS.length)]).join('')
  return `${stem === '' ? 'run' : stem}-${unique}`
}

/** @throws CliError usage */
export function checkRunName(given: string, what: string): string {
  if (isRunName(given)) return given
  throw new CliError({
    exit: EXIT.usage,
    code: 'usage',
    message: `${what} "${clipText(given, 80)}" cannot be the name of a run.`,
    hint: 'Names are 1 to 128 characters of A-Z a-z 0-9 . _ - and do not begin with a dot.',
  })
}
