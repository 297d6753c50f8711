import type { Digest } from '../../../base/digest.ts'
import { CaissonError } from '../../../base/errors.ts'
import type { RegisteredNode } from '../../../graph/plan/node-kinds.ts'
import { rightsAt } from '../../../graph/plan/rights-at.ts'
import { type GuestWork, isKept, type WorkEnd } from '../../../graph/run/node-work.ts'
import type { Failure } from '../../../graph/run/run-event.ts'
import type { RunState } from '../../../graph/run/run-state.ts'
import type { RunValues } from '../../../graph/run/run-values.ts'
import { type Limits, parseLimits } from '../../../machine/limits.ts'
import type { RunEntry } from '../../../snapshot/run-log/run-entry.ts'
import { digestValue } from '../../../values/digest-value.ts'
import type { RunOptions } from '../../options.ts'
import type { Outcome } from '../../outcome.ts'
import type { RunOwner } from '../../run-owner.ts'
import { programRun } from '../part-names.ts'
import type { PlanRunParts } from '../plan-run-parts.ts'
import { loadWasm } from '../plan-wasm.ts'
import { programEnd } from '../program-end.ts'
import { programSeed } from '../program-seed.ts'
import { type WasmGuest, type WasmOptions, wasmGuest } from '../wasm-work.ts'
import { type Attempt, differs } from './attempt.ts'
import { checkSame } from './difference.ts'
import { VALUE_LIMITS } from './event-checks.ts'
import { checkLog } from './program-log.ts'
import { checkStart } from './program-start.ts'

export interface ExecuteParts {
  readonly parts: Omit<PlanRunParts, 'changed'>
  readonly owner: RunOwner
  /** What seeds are derived from. */
  readonly id: string
  /** Whether it happened in the run that this one is a fork of, and has its log there. */
  readonly isInherited: boolean
  readonly state: Pick<RunState, 'plan'>
  readonly values: RunValues
  /** Of the run, where it has one. */
  readonly key: Uint8Array | undefined
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
  const { owner, id, key, engine } = parts
  const kept = isKept(node)
  const log = { ...owner, run: programRun(owner.run, id, path, attempt.attempt) }
  if (kept && parts.isInherited && (await parts.parts.store.entries(log.run, 0, 1)).length === 0)
    return 'Its log went with that of the run that this one is a fork of.'
  const begun = kept ? await checkLog(parts.parts, log, attempt, key) : undefined
  if (node.kind === 'program' && ran.engine !== engine)
    return `It was executed by the engine ${ran.engine}, and here is ${engine}.`
  const limits = { ...parseLimits(node.limits), wallMs: LONGEST_MS, idleMs: LONGEST_MS }
  const why = kept ? await compareStart(parts, attempt, begun, limits) : undefined
  if (why !== undefined) return why
  if (!ended.ok && BY_TIME.has(ended.error.code)) return `It was ended from outside (${ended.error.code}).`
  const first = await execute(parts, attempt, limits)
  const ranOut = !ended.ok && ended.error.code === 'budget_exhausted'
  // It may have had less than its own limits: what was left of a budget.
  const isShorter = ranOut && !(first.status === 'exhausted' && first.usage.fuel === attempt.fuel)
  if (isShorter && ended.error.class === 'timeout') return 'It was ended by time.'
  const outcome =
    isShorter && !kept ? await execute(parts, attempt, { ...limits, fuel: Math.max(1, attempt.fuel) }) : first
  if (outcome.status === 'exhausted' && (outcome.limit === 'wall' || outcome.limit === 'idle'))
    return 'It took too long to be done again.'
  if (outcome.engine !== ran.engine) return `It was executed by ${ran.engine}, and here is ${outcome.engine}.`
  compare(attempt, outcome, ranOut, parts.signal)
  return undefined
}

/** @returns why it cannot be compared; undefined where it began with what its node says. @throws Differs */
async function compareStart(
  given: ExecuteParts,
  attempt: Attempt,
  first: RunEntry | undefined,
  limits: Limits,
): Promise<string | undefined> {
  const { node, ran } = attempt
  if (node.kind === 'program') {
    const start = await given.parts.startOf(node.source ?? '', await begin(given, attempt, limits))
    return checkStart(attempt, first, start)
  }
  const guest = await guestOf(given, node)
  if (ran.engine === guest.unbegun) return 'It was refused before anything of it was executed.'
  const options = { ...(await begin(given, attempt, limits)), grants: grantsAt(given, attempt) }
  const wasm = options as typeof options & Pick<WasmOptions, 'limits' | 'seed' | 'input'>
  const here = await guest.engine(wasm)
  if (here !== ran.engine) return `It was executed by ${ran.engine}, and here is ${here}.`
  return checkStart(attempt, first, await guest.start(wasm))
}

async function guestOf({ parts }: ExecuteParts, node: RegisteredNode): Promise<WasmGuest> {
  return wasmGuest(node, await loadWasm(parts, node.wasm as Digest), parts.wasm)
}

/** Names of what it was granted itself. */
function grantsAt({ state }: ExecuteParts, { path }: Attempt): readonly string[] {
  const [own] = rightsAt(state.plan, path)
  return [...(own?.rules.keys() ?? [])]
}

/** What a program begins with. */
async function begin(
  { owner, id, values, signal }: ExecuteParts,
  { path, node, attempt, input }: Attempt,
  limits: Limits,
): Promise<RunOptions> {
  return {
    domain: owner.tenant,
    principal: owner.principal,
    limits,
    signal,
    input: await values.load(input),
    seed: programSeed(id, path, attempt),
    ...(node.kind === 'program' && node.language && { language: node.language }),
    ...(node.kind === 'program' && node.modules && { modules: node.modules }),
  }
}

async function execute(given: ExecuteParts, attempt: Attempt, limits: Limits): Promise<Outcome> {
  const { parts, owner, id, key, thread, signal } = given
  const { path, node, atMs, position, ran } = attempt
  const how = { ...(thread && { thread }), stateDigest: ran.state !== undefined }
  const guest = node.kind === 'program' ? undefined : await guestOf(given, node)
  if (!isKept(node)) {
    const seed = programSeed(id, path, attempt.attempt)
    const begun = { ...(await begin(given, attempt, limits)), ...how, nowMs: atMs }
    if (guest === undefined) return parts.runProgram(sourceOf(node), begun)
    const { thread: _, ...options } = begun
    return guest.run({ ...options, input: begun.input, limits, seed })
  }
  const again = {
    domain: owner.tenant,
    principal: owner.principal,
    signal,
    stateDigest: how.stateDigest,
    grants: grantsAt(given, attempt),
    reexecute: true,
  }
  const run = programRun(owner.run, id, path, attempt.attempt)
  try {
    if (guest === undefined) return await parts.repeatProgram(run, { ...again, ...how }, key)
    // A part of what was prepared, and so of what it could get.
    const { memoryBytes } = limits
    return await guest.repeat(run, { ...again, limits: { memoryBytes } }, { store: parts.store, key })
  } catch (error) {
    if (!CaissonError.is(error) || !OF_THE_LOG.has(error.code)) throw error
    throw differs('log', { path, position }, error.message)
  }
}

function sourceOf(node: GuestWork): string {
  return node.kind === 'program' ? (node.source ?? '') : ''
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
])
