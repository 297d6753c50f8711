/** What the runtime refuses about runs of plans, as an end of the command. */
import { CaissonError } from '../../base/errors.ts'
import { CliError } from '../cli-error.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { shellQuote } from '../render/shell-quote.ts'
import { refusalOf } from '../run/refusal.ts'
import { scopeTexts } from '../run/right-scope.ts'

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
  if (exit === undefined) return worded(refusalOf(error, where), error, where)
  const hint = hintFor(error, where)
  const message = messageFor(error)
  return new CliError({ exit, code: error.code, message, ...(hint && { hint }), cause: error })
}

/** What programs are refused with, too, in the words of runs of plans. */
function worded(refusal: unknown, error: CaissonError, where: PlanWhere): unknown {
  if (!(refusal instanceof CliError)) return refusal
  const { exit, code } = refusal
  const hint = OTHER_ENGINE.has(code) ? ELSEWHERE : (refusal.hint ?? hintFor(error, where))
  return new CliError({ exit, code, message: messageFor(error), ...(hint && { hint }), cause: error })
}

const OTHER_ENGINE: ReadonlySet<string> = new Set(['engine_mismatch', 'engine_unavailable'])
const ELSEWHERE =
  'What executes a node of it is another one here: go on with the version of caisson that began it, and with the package binaryen where that was there, or without it where it was not.'

/** What the library calls its options, and how they are given on the command line. */
const API_WORDS: readonly (readonly [api: string, words: string])[] = [
  ['approve the `request` of the view', 'give the digest that was shown'],
  ['resume it with that `point`', 'go on from exactly there (--confirm POINT)'],
  ['(`answers`)', '(--answer NODE=JSON, NODE=again or NODE=skip)'],
  ['give it as `value`', 'give it with --value JSON'],
  ['is said in `by`', 'is said with --by'],
  // The next step says it, where there is a choice.
  [': choose another name.', '.'],
]

/** By the event that would be written down. */
const NOT_POSSIBLE: ReadonlyMap<unknown, string> = new Map([
  ['approved', 'it cannot be approved'],
  ['rejected', 'it cannot be rejected'],
  ['started', 'it cannot be started'],
  ['cancel_asked', 'it cannot be cancelled'],
  ['confirmed', 'it cannot go on'],
])

function messageFor({ code, message, details }: CaissonError): string {
  const { status, event } = details
  const not = code === 'invalid_transition' ? NOT_POSSIBLE.get(event) : undefined
  if (not !== undefined) {
    const yet = status === 'proposed' && event === 'started' ? ', and nobody has approved it' : ''
    return `The run is ${String(status)}${yet}: ${not}.`
  }
  return API_WORDS.reduce((text, [api, words]) => text.replace(api, words), message)
}

/** What was rejected is denied to whoever starts it; anything else is the wrong command. */
function exitOfState({ details }: CaissonError): ExitCode {
  return details.status === 'rejected' ? EXIT.denied : EXIT.usage
}

function standHint(named: string): string {
  return `caisson show ${named} says how it stands, and what can be done.`
}

function scopeHint({ was }: CaissonError['details']): string {
  const approved = Array.isArray(was) && was.length > 0 ? scopeTexts(was.map(String)).join(', ') : 'none'
  return `Approved were: ${approved}. Give these --allow- flags or fewer, or propose the plan again with what it is to reach.`
}

function hintFor({ code, details }: CaissonError, { store, run = 'RUN' }: PlanWhere): string | undefined {
  const named = `${shellQuote(run)} --store ${shellQuote(store)}`
  // Of a fork: which point of the other run is meant.
  if (details.option === 'at' || (code === 'invalid_transition' && Array.isArray(details.nodes)))
    return `caisson plan events ${named} numbers them, from 0 on: --at N takes over those before number N.`
  switch (code) {
    case 'unknown_capability':
      return 'Give what the plan calls, the same whenever it is proposed, started or resumed: --tools MODULE, --allow-read DIR, --allow-net HOST.'
    case 'tool_changed':
      return 'Nothing was run. Give the tools that were approved, or propose the plan again: caisson plan propose FILE.'
    case 'confirmation_required':
      return `caisson show ${named} says how it stands, and the POINT for --confirm POINT.`
    case 'approval_mismatch':
      return details.differs === 'scope' ? scopeHint(details) : standHint(named)
    case 'in_doubt':
    case 'approval_expired':
    case 'invalid_transition':
    case 'unknown_event':
      return standHint(named)
    default:
      return undefined
  }
}
