/** One way to say that the value of a flag is malformed: what was given, what is expected, an example. */
import { clipText } from '../../base/escape-text.ts'
import { CliError } from '../cli-error.ts'
import { EXIT } from '../exit-code.ts'

/** @param expected continues "--flag takes ...", with the unit and an example */
export function refuseValue(flag: string, given: string, expected: string): never {
  throw new CliError({
    exit: EXIT.usage,
    code: 'usage',
    message: `--${flag} takes ${expected}; "${clipText(given, 80)}" is not one.`,
  })
}
