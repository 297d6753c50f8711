/** What the runtime refuses about runs of plans, as an end of the command. */
import { CaissonError } from '../../base/errors.ts'
import { CliError } from '../cli-error.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { shellQuote } from '../render/shell-quote.ts'
import { refusalOf } from '../run/refusal.ts'

const EXITS: ReadonlyMap<string, ExitCode> = new Map([
  ['invalid_plan', EXIT.refusedInput],
  ['unknown_capability', EXIT.usage],
  ['unknown_event', EXIT.usage],
  ['tool_changed', EXIT.refusedInput],
  ['confirmation_required', EXIT.waiting],
  ['in_doubt', EXIT.waiting],
  ['approval_mismatch', EXIT.denied],
  ['approval_expired', EXIT.denied],
  ['unsupported', EXIT.refusedInput],
])

/** Where the run is, as far as that is known. */
export interface PlanWhere {
  readonly store: string
  readonly run: string | undefined
}

/** `error` as a `CliError` where it is a refusal, otherwise as it is. */
export function planRefusalOf(error: unknown, where: PlanWhere): unknown {
  if (!CaissonError.is(error)) return error
  const exit = error.code === 'invalid_transition' ? exitOfState(error) : EXITS.get(error.code)
  if (exit === undefined) return refusalOf(error, where)
  const hint = hintFor(error, where)
  return new CliError({ exit, code: error.code, message: error.message, ...(hint && { hint }), cause: error })
}

/** What was rejected is denied to whoever starts it; anything else is the wrong command. */
function exitOfState({ details }: CaissonError): ExitCode {
  return details.status === 'rejected' ? EXIT.denied : EXIT.usage
}

function hintFor({ code }: CaissonError, { store, run = 'RUN' }: PlanWhere): string | undefined {
  const named = `${shellQuote(run)} --store ${shellQuote(store)}`
  switch (code) {
    case 'unknown_capability':
      return 'Give what the plan calls, the same whenever it is proposed, started or resumed: --tools MODULE, --allow-read DIR, --allow-net HOST.'
    case 'tool_changed':
      return 'Nothing was run. Give the tools that were approved, or propose the plan again: caisson plan propose FILE.'
    case 'confirmation_required':
      return `caisson show ${named} says how it stands, and the POINT for --confirm POINT.`
    case 'in_doubt':
    case 'approval_mismatch':
    case 'approval_expired':
    case 'invalid_transition':
    case 'unknown_event':
      return `caisson show ${named} says how it stands, and what can be done.`
    default:
      return undefined
  }
}
