/** A `CliError` for stderr: what is wrong, and the next step. */
import { escapeText } from '../../base/escape-text.ts'
import type { CliError } from '../cli-error.ts'
import type { Style } from './style.ts'
import { hangText } from './wrap-text.ts'

export function cliErrorText(error: CliError, columns: number, style: Style): string {
  const width = Math.max(30, columns - 1)
  // Messages can quote several lines of hostile text: only the first begins a line.
  const [first = '', ...others] = hangText('error: ', escapeText(error.message), width)
  const hint = error.hint === undefined ? [] : hangText('  next: ', escapeText(error.hint), width)
  return [style.red('error:') + first.slice('error:'.length), ...others, ...hint]
    .map((line) => `${line}\n`)
    .join('')
}
