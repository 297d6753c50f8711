/** `--input` and its like: JSON on the command line, or `@file` (`@-` for standard input), in plain or tagged form. */
import { CaissonError } from '../../base/errors.ts'
import { fromTaggedJson } from '../../values/tagged-json.ts'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { findJsonProblem } from './json-problem.ts'
import { readText } from './read-text.ts'

/**
 * The value that a flag gives; undefined without one.
 * @param flag names it in messages
 * @throws CliError usage for a malformed argument, refused input for a file with malformed content
 */
export async function readInput(given: string | undefined, io: CliIo, flag = '--input'): Promise<unknown> {
  if (given === undefined) return undefined
  const inFile = given.startsWith('@')
  const text = inFile ? await readText(given.slice(1), flag === '--input' ? 'input' : 'answer', io) : given
  const exit = inFile ? EXIT.refusedInput : EXIT.usage
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (cause) {
    throw notJson(text, exit, inFile, flag, cause)
  }
  try {
    return fromTaggedJson(json)
  } catch (cause) {
    if (!CaissonError.is(cause)) throw cause
    throw new CliError({ exit, code: cause.code, message: `${flag}: ${cause.message}`, cause })
  }
}

function notJson(text: string, exit: ExitCode, inFile: boolean, flag: string, cause: unknown): CliError {
  const problem = findJsonProblem(text)
  const where = problem ? `line ${problem.line}, column ${problem.column}: ${problem.expected}` : 'malformed'
  return new CliError({
    exit,
    code: exit === EXIT.usage ? 'usage' : 'invalid_argument',
    message: `${flag} is not JSON; ${where}.`,
    hint: inFile ? 'The file must hold one JSON value.' : howToQuote(text, flag),
    cause,
  })
}

/** Words that stand there alone are mostly meant as a text. */
const WORDS = /^[\p{L}\p{N} .,_-]{1,40}$/u

function howToQuote(text: string, flag: string): string {
  const before = `${flag}${flag === '--input' ? ' ' : '='}`
  const example = WORDS.test(text)
    ? `A text has quotes of its own inside of those for the shell, ${before}'${JSON.stringify(text)}'`
    : `Quote it for the shell, ${before}'{"n": 1}'`
  return `${example}; or name a file, ${before}@data.json.`
}
