/**
 * Executes a program of a run again, from nothing but the record: one without grants begun anew with its seed and its
 * time, a kept run from its own log, with the answers that it got. Nobody in the world is asked anything.
 *
 * Invariants
 * 1. Equal histories are equal: what it came to, and the fuel that this took, are what the journal says.
 * 2. What a clock of the host ended, or somebody who stopped it, is not done again, and is told as such.
 */
import type { Digest } from '../../../base/digest.ts'
import { CaissonError } from '../../../base/errors.ts'
import type { Program, ProgramNode } from '../../../graph/plan/plan.ts'
import { rightsAt } from '../../../graph/plan/rights-at.ts'
import { isKept, type WorkEnd } from '../../../graph/run/node-work.ts'
import type { Failure, Ran, ValueRef } from '../../../graph/run/run-event.ts'
import type { RunState } from '../../../graph/run/run-state.ts'
import type { RunValues } from '../../../graph/run/run-values.ts'
import { type Limits, parseLimits } from '../../../machine/limits.ts'
import { digestValue } from '../../../values/digest-value.ts'
import type { RunOptions } from '../../options.ts'
import type { Outcome } from '../../outcome.ts'
import type { RunOwner } from '../../run-owner.ts'
import type { PlanRunParts } from '../plan-run-parts.ts'
import { programEnd, programRun, programSeed } from '../plan-work.ts'
import { checkSame, type Difference, type DifferenceOf, Differs } from './difference.ts'
import { VALUE_LIMITS } from './event-checks.ts'
import { checkLog } from './program-log.ts'

/** One attempt of a program, as the journal has it. */
export interface Attempt {
  /** Of its node; with `#undo` at its end for what undoes it. */
  readonly path: string
  readonly node: Program & Pick<ProgramNode, 'grants' | 'limits'>
  readonly attempt: number
  /** The time in the guest when it began. */
  readonly atMs: number
  readonly input: ValueRef
  /** Number of the event that ended it. */
  readonly position: number
  readonly ran: Ran
  readonly fuel: number
  readonly ended:
    | { readonly ok: true; readonly output: Digest | undefined }
    | { readonly ok: false; readonly error: Failure }
}

export interface ExecuteParts {
  readonly parts: Omit<PlanRunParts, 'changed'>
  readonly owner: RunOwner
  /** What seeds are derived from. */
  readonly id: string
  readonly state: Pick<RunState, 'plan'>
  readonly values: RunValues
  /** Id of the engine build here. */
  readonly engine: string
  readonly thread: RunOptions['thread']
  readonly signal: AbortSignal
}

/** Another process may be busier than the first one was: time ends nothing here. */
const LONGEST_MS = 3_600_000

/** @returns why it was not done again; undefined where it was, and ended the same. @throws Differs */
export async function executeAgain(parts: ExecuteParts, attempt: Attempt): Promise<string | undefined> {
  const { node, path, ran, ended } = attempt
  const { owner, engine } = parts
  if (isKept(node))
    await checkLog(parts.parts, { ...owner, run: programRun(owner.run, path, attempt.attempt) }, attempt)
  if (!ended.ok && BY_TIME.has(ended.error.code)) return `It was ended from outside (${ended.error.code}).`
  if (ran.engine !== engine) return `It was executed by the engine ${ran.engine}, and here is ${engine}.`
  const limits = { ...parseLimits(node.limits), wallMs: LONGEST_MS, idleMs: LONGEST_MS }
  const first = await execute(parts, attempt, limits)
  const ranOut = !ended.ok && ended.error.code === 'budget_exhausted'
  // It may have had less than its own limits: what was left of a budget.
  const isShorter = ranOut && !(first.status === 'exhausted' && first.usage.fuel === attempt.fuel)
  if (isShorter && ended.error.class === 'timeout') return 'It was ended by time.'
  const outcome =
    isShorter && !isKept(node)
      ? await execute(parts, attempt, { ...limits, fuel: Math.max(1, attempt.fuel) })
      : first
  if (outcome.status === 'exhausted' && (outcome.limit === 'wall' || outcome.limit === 'idle'))
    return 'It took too long to be done again.'
  compare(attempt, outcome, ranOut, parts.signal)
  return undefined
}

async function execute(
  { parts, owner, id, state, values, thread, signal }: ExecuteParts,
  { path, node, attempt, atMs, input, position, ran }: Attempt,
  limits: Limits,
): Promise<Outcome> {
  const whose = { domain: owner.tenant, principal: owner.principal }
  const common = { ...whose, limits, signal, ...(thread && { thread }), stateDigest: ran.state !== undefined }
  if (!isKept(node)) {
    return parts.runProgram(node.source ?? '', {
      ...common,
      input: await values.load(input),
      seed: programSeed(id, path, attempt),
      nowMs: atMs,
      ...(node.language && { language: node.language }),
      ...(node.modules && { modules: node.modules }),
    })
  }
  const [own] = rightsAt(state.plan, path)
  const grants = [...(own?.rules.keys() ?? [])]
  try {
    const { limits: _limits, ...rest } = common
    return await parts.repeatProgram(programRun(owner.run, path, attempt), {
      ...rest,
      grants,
      reexecute: true,
    })
  } catch (error) {
    if (!CaissonError.is(error) || !OF_THE_LOG.has(error.code)) throw error
    throw differs('log', { path, position }, error.message)
  }
}

function compare(attempt: Attempt, outcome: Outcome, ranOut: boolean, signal: AbortSignal): void {
  const { path, position, ended, fuel, ran } = attempt
  if (signal.aborted) throw new CaissonError('aborted', 'Verifying was stopped.')
  const at = { position, node: path }
  const end = programEnd(outcome, signal, false)
  const [recorded, found] = [ended.ok ? 'value' : codeOf(ended.error), endOf(end)]
  checkSame({ ...at, of: 'end', words: 'how the program ended' }, recorded, found)
  if (ended.ok && end.end === 'value' && ended.output !== undefined) {
    const output = digestValue(end.value, VALUE_LIMITS)
    checkSame({ ...at, of: 'output', words: 'the output' }, ended.output, output)
  }
  if (!ended.ok && end.end === 'failure' && !ranOut)
    checkSame({ ...at, of: 'end', words: 'the message of the error' }, ended.error.message, end.error.message)
  checkSame({ ...at, of: 'fuel', words: 'the fuel' }, fuel, outcome.usage.fuel)
  if (ran.state !== undefined)
    checkSame({ ...at, of: 'state', words: 'the state' }, ran.state, outcome.stateDigest)
}

function endOf(end: WorkEnd): string {
  return end.end === 'failure' ? codeOf(end.error) : end.end
}

function codeOf({ class: kind, code }: Failure): string {
  return `${kind}/${code}`
}

export function differs(
  of: DifferenceOf,
  { path, position }: Pick<Attempt, 'path' | 'position'>,
  why: string,
  more: Partial<Difference> = {},
): Differs {
  const message = `Entry ${position}: the program of node "${path.slice(0, 200)}" cannot be done again. ${why}`
  return new Differs({ of, position, node: path, ...more, message })
}

const BY_TIME: ReadonlySet<string> = new Set(['aborted', 'timeout', 'in_doubt', 'lease_lost', 'machine_lost'])

const OF_THE_LOG: ReadonlySet<string> = new Set([
  'not_found',
  'corrupted',
  'checkpoint_refused',
  'engine_mismatch',
  'unknown_capability',
])
