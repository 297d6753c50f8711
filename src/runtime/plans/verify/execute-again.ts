import { CaissonError } from '../../../base/errors.ts'
import { rightsAt } from '../../../graph/plan/rights-at.ts'
import { isKept, type WorkEnd } from '../../../graph/run/node-work.ts'
import type { Failure } from '../../../graph/run/run-event.ts'
import type { RunState } from '../../../graph/run/run-state.ts'
import type { RunValues } from '../../../graph/run/run-values.ts'
import { type Limits, parseLimits } from '../../../machine/limits.ts'
import { digestValue } from '../../../values/digest-value.ts'
import type { RunOptions } from '../../options.ts'
import type { Outcome } from '../../outcome.ts'
import type { RunOwner } from '../../run-owner.ts'
import { programRun } from '../part-names.ts'
import type { PlanRunParts } from '../plan-run-parts.ts'
import { programEnd } from '../program-end.ts'
import { programSeed } from '../program-seed.ts'
import { type Attempt, differs } from './attempt.ts'
import { checkSame } from './difference.ts'
import { VALUE_LIMITS } from './event-checks.ts'
import { checkLog } from './program-log.ts'

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

const BY_TIME: ReadonlySet<string> = new Set(['aborted', 'timeout', 'in_doubt', 'lease_lost', 'machine_lost'])

const OF_THE_LOG: ReadonlySet<string> = new Set([
  'not_found',
  'corrupted',
  'checkpoint_refused',
  'engine_mismatch',
  'unknown_capability',
])
