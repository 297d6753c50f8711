/**
 * The work of plans: programs in isolates and calls through the gate.
 *
 * Invariants
 * 1. Calls of nodes pass the gate of their plan like those of any guest: what is not granted is not called, whatever a
 *    plan names.
 * 2. A guest that may change the world is a kept run of its own: whoever goes on with the plan goes on with it, and
 *    asks nothing again. One without grants leaves nothing behind, and is begun anew.
 * 3. What ends for a reason that this process alone has (it was told to stop, it lost the run) is no end of the node.
 */
import { type Digest, digestOf } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import type { Allowance } from '../../capability/allowance.ts'
import type { Answer, GuestFailure, PendingCall } from '../../capability/call.ts'
import { Refusal } from '../../capability/call.ts'
import type { Gate } from '../../capability/gate.ts'
import type { Grant } from '../../capability/grant.ts'
import { ruleOf } from '../../graph/plan/authority.ts'
import { isRegistered, type RegisteredNode } from '../../graph/plan/node-kinds.ts'
import type { Plan, PlanGrant } from '../../graph/plan/plan.ts'
import { type Rights, rightsAt, UNDO } from '../../graph/plan/rights-at.ts'
import type { EvaluateExpression } from '../../graph/run/evaluate.ts'
import { failureOf } from '../../graph/run/failure-class.ts'
import {
  type CallWork,
  type EarlierOutput,
  type GuestWork,
  isKept,
  type NodeWork,
  type ProgramWork,
  type WorkEnd,
} from '../../graph/run/node-work.ts'
import type { Used } from '../../graph/run/run-event.ts'
import type { CallIntent, CallLog, CallResult } from '../../ports/call-log.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Hash } from '../../ports/hash.ts'
import type { TelemetrySpan } from '../../ports/telemetry.ts'
import { measureValue } from '../../values/copy-value.ts'
import { withCanonical } from '../../values/encode-canonical.ts'
import { DEFAULT_VALUE_LIMITS } from '../../values/limits.ts'
import type { GateOwn } from '../gate-maker.ts'
import type { ResumeOptions, RunOptions } from '../options.ts'
import type { Outcome } from '../outcome.ts'
import { nodeGrants } from './node-grants.ts'
import { programRun } from './part-names.ts'
import { type ExpressionParts, expressionsOf } from './plan-expressions.ts'
import { programEnd, ranBy, usedBy } from './program-end.ts'
import { programSeed } from './program-seed.ts'
import { type Stopping, stopOf } from './stopping.ts'
import { isOfTheGuest, type WasmOptions } from './wasm-work.ts'
import {
  approvalsOfCalls,
  asksOfCall,
  asksOfProgram,
  decisionOf,
  decisionsOfProgram,
  type PolicyOf,
  refusedRequest,
} from './work-requests.ts'

/** What gates of plans are made with. */
export type PlanGateOptions = { readonly guestId: string } & Pick<
  GateOwn,
  'callLog' | 'approvals' | 'clock' | 'spanOf'
>

export interface PlanWorkParts extends ExpressionParts {
  readonly plan: Plan
  /** Name of the run; those of its programs begin with it. */
  readonly run: string
  /** Unique, and the same in every process that goes on with the run: idempotency keys are derived from it. */
  readonly guestId: string
  /** Its time never goes back behind what was recorded. */
  readonly clock: Clock
  /** Whether the digest of the state that each program ends in is recorded. Default false. */
  readonly states?: boolean
  readonly openGate: (grants: readonly Grant[], options: PlanGateOptions) => Gate
  readonly runProgram: (source: string, options: RunOptions, under?: TelemetrySpan) => Promise<Outcome>
  readonly resumeProgram: (run: string, options: ResumeOptions, under?: TelemetrySpan) => Promise<Outcome>
  readonly runWasm: (node: RegisteredNode, options: WasmOptions, under?: TelemetrySpan) => Promise<Outcome>
  readonly resumeWasm: (
    node: RegisteredNode,
    run: string,
    options: ResumeOptions,
    under?: TelemetrySpan,
  ) => Promise<Outcome>
  /** What the work of a node is told to be a part of. */
  readonly spanOf?: ((path: string) => TelemetrySpan | undefined) | undefined
  readonly hash: Pick<Hash, 'sha256'>
  /** What the calls of a kept run took of its grants, by its record; undefined where there is none. */
  readonly tookBefore?: (run: string) => Promise<Used['by']>
  /** What a node gave in an earlier run of the plan. Left out: nothing is looked for. */
  readonly earlier?: (path: string, input: Digest, mostAgeMs: number) => Promise<EarlierOutput | undefined>
}

export class PlanWork implements NodeWork {
  readonly #parts: PlanWorkParts
  readonly #callLog: CallLog
  readonly #gate: Gate
  /** Of calls, by the places of the plans that they are in. */
  readonly #gates = new Map<string, Gate>()
  /** Calls that are under way, by their numbers. */
  readonly #recording = new Map<number, CallWork>()

  constructor(parts: PlanWorkParts) {
    this.#parts = parts
    this.evaluate = expressionsOf(parts)
    this.#callLog = {
      intent: (intent) => this.#intent(intent),
      result: (result) => this.#result(result),
    }
    this.#gate = this.#gateOf(rightsAt(parts.plan, ''))
  }

  #gateOf(rights: readonly Rights[]): Gate {
    const place = rights[0]?.place ?? ''
    const known = this.#gates.get(place)
    if (known !== undefined) return known
    const { openGate, guestId, clock, spanOf } = this.#parts
    const approvals = approvalsOfCalls(this.#recording, this.#policyOf)
    const gate = openGate(nodeGrants(rights, this.#allowance), {
      guestId,
      clock,
      callLog: this.#callLog,
      approvals,
      spanOf: spanOf && ((call) => spanOf(this.#recording.get(call)?.path ?? '')),
    })
    this.#gates.set(place, gate)
    return gate
  }

  readonly #policyOf: PolicyOf = (path, capability) =>
    rightsAt(this.#parts.plan, path.replace(UNDO, '')).flatMap(({ rules }) => rules.get(capability) ?? [])

  /** Every call has its own. */
  readonly #allowance: Allowance = {
    reserve: (taking) => {
      const work = this.#recording.get(taking.call)
      if (work !== undefined) return work.allowance.reserve(taking)
      return { code: 'budget_exhausted', message: 'No node makes this call.', details: { unit: 'calls' } }
    },
    lacks: (taking) => this.#recording.get(taking.call)?.allowance.lacks?.(taking),
    receive: (result) => this.#recording.get(result.call)?.allowance.receive(result) === true,
  }

  async call(work: CallWork): Promise<WorkEnd> {
    const { call, node, input, recorded } = work
    const { clock } = this.#parts
    const pendingWith = (args: unknown): PendingCall => ({
      id: call,
      capability: node.capability,
      args: args ?? undefined,
      bytes: measureValue(args).bytes,
      askedAtMs: clock.now(),
    })
    const pending = pendingWith(input)
    const decision = decisionOf(work.requests)
    const edit = decision?.decision === 'approve' && 'value' in decision ? decision : undefined
    this.#recording.set(call, work)
    const stop = stopOf(work)
    try {
      const gate = this.#gateOf(rightsAt(this.#parts.plan, work.path.replace(UNDO, '')))
      if (recorded === undefined) {
        const problem = edit && (await gate.checkEdit(pending, edit, stop.source))
        const again = problem && (await gate.asks(pending, stop.source))
        if (again !== undefined) return asksOfCall(again, work.requests, problem?.message)
        const { answer, asked } = await gate.call(pending, stop.source, stop.watcher)
        return asked === undefined ? this.#callEnd(work, answer, stop) : asksOfCall(asked, work.requests)
      }
      // What was let in is what was decided on.
      const letIn = edit === undefined ? pending : pendingWith(edit.value)
      const admission = await gate.readmit(letIn, stop.source)
      const ended = admission instanceof Refusal ? admission : await gate.invoke(admission, stop.source)
      if (admission instanceof Refusal)
        return { end: 'failure', error: failureOf(admission.failure), repeatable: false }
      const { answer } = await gate.conclude(admission, ended, stop.source)
      return this.#callEnd(work, answer, stop)
    } finally {
      this.#recording.delete(call)
      stop.forget()
    }
  }

  #callEnd({ node, stop: told, timeoutMs }: CallWork, answer: Answer, stop: Stopping): WorkEnd {
    if (answer.ok) return { end: 'value', value: answer.value }
    const { code, message } = answer.error
    if (code === 'not_recorded' || code === 'lease_lost')
      return { end: 'lost', error: new CaissonError(code, message) }
    const repeatable = this.#gate.isRepeatable(node.capability)
    if (code !== 'aborted') return { end: 'failure', error: failureOf(answer.error), repeatable }
    // Stopped in the middle: what became of it is not known.
    if (!repeatable) return { end: 'in_doubt' }
    const error: GuestFailure =
      stop.timedOut && !told.stopped
        ? { code: 'timeout', message: `The call did not end within ${timeoutMs} ms.` }
        : answer.error
    return { end: 'failure', error: failureOf(error), repeatable }
  }

  async #intent({ id, idempotencyKey, repeatable, args }: CallIntent): Promise<void> {
    const work = this.#recording.get(id)
    await work?.admitted({ key: idempotencyKey, repeatable: repeatable === true, args: this.#digest(args) })
  }

  /** As `digestValue`, as fast as the platform has it. */
  #digest(args: unknown): Digest {
    return withCanonical(args, DEFAULT_VALUE_LIMITS, (bytes) => digestOf(this.#parts.hash.sha256(bytes)))
  }

  async #result(result: CallResult): Promise<void> {
    const work = this.#recording.get(result.id)
    await work?.answered(
      result.ok ? { ok: true, value: result.value } : { ok: false, error: failureOf(result) },
    )
  }

  async program(work: ProgramWork): Promise<WorkEnd> {
    const { path, node, input, attempt, atMs, resumed, signal, timeoutMs, limits: own } = work
    const grants = isKept(node) ? nodeGrants(rightsAt(this.#parts.plan, path), work.allowance) : []
    const limits = { ...own, wallMs: Math.min(own.wallMs, timeoutMs ?? own.wallMs) }
    const run = isKept(node) ? this.#programRun(path, attempt) : undefined
    const { plan, states = false } = this.#parts
    const { guard } = plan
    const common = {
      ...this.#parts.whose,
      grants,
      signal,
      limits,
      stateDigest: states,
      ...(guard && { guard }),
    }
    const begun = {
      ...common,
      input,
      seed: programSeed(this.#parts.guestId, path, attempt),
      // The record of a kept run has its times. One that is begun anew has the same ones again.
      ...(run === undefined ? { nowMs: atMs } : { run }),
    }
    const begin = (): Promise<Outcome> => this.#begin(node, begun, this.#parts.spanOf?.(path))
    const notes = new Map<Digest, string>()
    try {
      const outcome =
        run !== undefined && resumed ? await this.#goOn(run, common, work, notes, begin) : await begin()
      const end =
        this.#asks(outcome, work, notes) ?? programEnd(outcome, signal, this.#mayRepeat(node.grants))
      // Its calls are counted where they are made.
      return { ...end, used: usedBy(outcome, work.counted), ran: ranBy(outcome) }
    } catch (error) {
      if (!CaissonError.is(error)) throw error
      const isOfTheNode = OF_THE_NODE.has(error.code) || (isRegistered(node) && isOfTheGuest(error))
      if (!isOfTheNode) return { end: 'lost', error }
      const { code, message } = error
      return { end: 'failure', error: failureOf({ code, message }), repeatable: false }
    }
  }

  #begin(node: GuestWork, options: WasmOptions, span: TelemetrySpan | undefined): Promise<Outcome> {
    if (isRegistered(node)) return this.#parts.runWasm(node, options, span)
    const { language, modules, source = '' } = node
    const more = { ...(language && { language }), ...(modules && { modules }) }
    return this.#parts.runProgram(source, { ...options, ...more }, span)
  }

  #resume(node: GuestWork, run: string, options: ResumeOptions, span?: TelemetrySpan): Promise<Outcome> {
    return isRegistered(node)
      ? this.#parts.resumeWasm(node, run, options, span)
      : this.#parts.resumeProgram(run, options, span)
  }

  /** A program that waits for nothing but people, and perhaps a timer that is far off. */
  #asks(outcome: Outcome, work: ProgramWork, notes: ReadonlyMap<Digest, string>): WorkEnd | undefined {
    if (outcome.status !== 'suspended' || outcome.inDoubt.length > 0) return undefined
    const asked = asksOfProgram(outcome.pending, work, this.#policyOf, notes)
    if (asked.length === 0) return undefined
    const { wakeAtMs } = outcome
    return { end: 'asks', asked, ...(wakeAtMs !== undefined && { wakeAtMs }) }
  }

  /**
   * An earlier process may have begun the program, or died before. What people said counts as far as it can still be
   * used: an earlier process may have used it.
   * @param notes filled with why what somebody wrote cannot be taken
   */
  async #goOn(
    run: string,
    going: ResumeOptions,
    { path, node, requests, settled }: ProgramWork,
    notes: Map<Digest, string>,
    begin: () => Promise<Outcome>,
  ): Promise<Outcome> {
    let decisions = decisionsOfProgram(requests)
    let doubts = settled
    for (;;) {
      const answers = doubts.flatMap(({ call: id, answer }) => (answer ? { id, value: answer.value } : []))
      const confirm = doubts.flatMap(({ call, answer }) => (answer === undefined ? call : []))
      try {
        const options = { ...going, decisions, answers, confirm }
        return await this.#resume(node, run, options, this.#parts.spanOf?.(path))
      } catch (error) {
        if (CaissonError.is(error, 'not_found')) return begin()
        const refused = refusedRequest(error, decisions)
        if (refused !== undefined) {
          if (!USED_OR_VOID.has((error as CaissonError).code)) notes.set(refused, (error as Error).message)
          decisions = decisions.filter(({ request }) => request !== refused)
        } else if (CaissonError.is(error, 'unknown_call') && doubts.length > 0) doubts = []
        else throw error
      }
    }
  }

  async cached(path: string, input: Digest, mostAgeMs: number): Promise<EarlierOutput | undefined> {
    return this.#parts.earlier?.(path, input, mostAgeMs)
  }

  async tookBefore(path: string, attempt: number): Promise<Used['by']> {
    return this.#parts.tookBefore?.(this.#programRun(path, attempt))
  }

  #programRun(path: string, attempt: number): string {
    return programRun(this.#parts.run, this.#parts.guestId, path, attempt)
  }

  #mayRepeat(grants: readonly PlanGrant[] = []): boolean {
    return grants.every((grant) => this.#gate.isRepeatable(ruleOf(grant).capability))
  }

  /** For conditions and small mappings of the plan. */
  readonly evaluate: EvaluateExpression
}

/**
 * What a program is refused for itself, in whatever process. Everything else that is thrown is of this one, or of the
 * store: another one may go on, and nothing has failed that would have to be undone.
 */
const OF_THE_NODE: ReadonlySet<string> = new Set([
  'invalid_argument',
  'invalid_limit',
  'value_refused',
  'value_too_large',
  'value_too_deep',
])

/** Of a decision that a program goes on without: nobody has to hear why. */
const USED_OR_VOID: ReadonlySet<string> = new Set(['approval_mismatch', 'approval_expired'])
