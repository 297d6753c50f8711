/** A WebAssembly file as the command line runs it: which kind it is, and how what is refused of it is told. */
import { CaissonError } from '../../base/errors.ts'
import { escapeText } from '../../base/escape-text.ts'
import { type BinaryKind, inspectBinary } from '../../component/core/inspect-binary.ts'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { grantWords } from './grant-words.ts'

/** Codes that say that it is the file. */
const REFUSED: ReadonlySet<string> = new Set([
  'invalid_module',
  'invalid_component',
  'unsupported_feature',
  'missing_imports',
])

/** The command line runs commands; the core module that a component is built of mostly lies beside it. */
const NO_ENTRY =
  'If a component was built of this module, run the file of that. Other entries than "_start" are named in a program: runtime.runModule(bytes, { entry }).'

export function guestRefusal(error: unknown): unknown {
  if (!CaissonError.is(error)) return error
  const { obstacle, handles } = error.details
  if (error.code === 'unsupported' && (obstacle ?? handles) !== undefined) return cannotBeCaptured(error)
  if (!REFUSED.has(error.code)) return error
  const message = grantWords(error.message)
  const hint = error.details.reason === 'no entry' ? NO_ENTRY : undefined
  return new CliError({
    exit: EXIT.refusedInput,
    code: error.code,
    message,
    ...(hint && { hint }),
    cause: error,
  })
}

/** Now, or ever. */
function cannotBeCaptured(cause: CaissonError): CliError {
  const { message, details } = cause
  const hint =
    details.passes === true
      ? 'Leave --stop-at-call and --checkpoint out. In a --store it is kept all the same, by the record of its calls.'
      : 'Run it without --store, --stop-at-call and --checkpoint.'
  return new CliError({ exit: EXIT.refusedInput, code: cause.code, message, hint, cause })
}

/** @throws CliError for what is no WebAssembly */
export function kindOfGuest(bytes: Uint8Array): BinaryKind {
  try {
    return inspectBinary(bytes).kind
  } catch (error) {
    throw guestRefusal(error)
  }
}

/** Once a guest is large enough that one waits for it. */
export function preparing(io: CliIo, name: string): (done: number) => void {
  if (!io.stderr.isTerminal) return () => {}
  const shown = escapeText(name)
  return (done) =>
    io.stderr.write(`\r\x1b[Kpreparing ${shown} · ${Math.round(done * 100)} %${done >= 1 ? '\r\x1b[K' : ''}`)
}

/** Directories are the guest's own to open, and no capabilities. */
export function withoutDirectories(given: GivenFlags): GivenFlags {
  return {
    ...given,
    values: (name: string) => (name === 'allow-read' || name === 'allow-write' ? [] : given.values(name)),
  }
}
