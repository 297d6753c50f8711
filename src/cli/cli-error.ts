/** An end of the command that is not the guest's: said in one message with the next step, never as a stack trace. */
import type { ErrorCode } from '../base/errors.ts'
import type { ExitCode } from './exit-code.ts'

/** Stable reasons in `--json` documents: `usage` for flags and arguments, else the library's own code. */
export type CliErrorCode = 'usage' | 'internal' | ErrorCode

export interface CliErrorParts {
  readonly exit: ExitCode
  readonly code: CliErrorCode
  /** What is wrong. May quote hostile text: it is escaped where it is shown. */
  readonly message: string
  /** What to do now. */
  readonly hint?: string
  readonly cause?: unknown
}

export class CliError extends Error {
  override readonly name = 'CliError'
  readonly exit: ExitCode
  readonly code: CliErrorCode
  readonly hint: string | undefined

  constructor(parts: CliErrorParts) {
    super(parts.message, parts.cause === undefined ? undefined : { cause: parts.cause })
    this.exit = parts.exit
    this.code = parts.code
    this.hint = parts.hint
  }
}
