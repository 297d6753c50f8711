/**
 * The work of plans: programs in isolates and calls through the gate.
 *
 * Invariants
 * 1. Calls of nodes pass the gate of their plan like those of any guest: what is not granted is not called, whatever a
 *    plan names.
 * 2. A program that may change the world is a kept run of its own: whoever goes on with the plan goes on with it, and
 *    asks nothing again. One without grants leaves nothing behind, and is begun anew.
 * 3. What ends for a reason that this process alone has (it was told to stop, it lost the run) is no end of the node.
 */
import { sha256, sha256Bytes } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import type { Answer, GuestFailure, PendingCall } from '../../capability/call.ts'
import { Refusal } from '../../capability/call.ts'
import type { Gate, GateOptions } from '../../capability/gate.ts'
import type { Grant } from '../../capability/grant.ts'
import { StopSource } from '../../capability/stop.ts'
import { argumentProblem, ruleOf } from '../../graph/plan/authority.ts'
import type { Plan, PlanGrant } from '../../graph/plan/plan.ts'
import type { Evaluated, EvaluateExpression } from '../../graph/run/evaluate.ts'
import { failureOf } from '../../graph/run/failure-class.ts'
import type { CallWork, NodeWork, ProgramWork, WorkEnd } from '../../graph/run/node-work.ts'
import type { Limits } from '../../machine/limits.ts'
import type { CallIntent, CallLog, CallResult } from '../../ports/call-log.ts'
import { measureValue } from '../../values/copy-value.ts'
import type { ResumeOptions, RunOptions } from '../options.ts'
import type { Outcome } from '../outcome.ts'

export interface PlanWorkParts {
  readonly plan: Plan
  /** Name of the run; those of its programs begin with it. */
  readonly run: string
  /** Unique, and the same in every process that goes on with the run: idempotency keys are derived from it. */
  readonly guestId: string
  readonly now: () => number
  /** When the run started, milliseconds since the epoch: the time of its expressions. */
  readonly startedAtMs: () => number
  readonly openGate: (grants: readonly Grant[], options: Pick<GateOptions, 'guestId' | 'callLog'>) => Gate
  readonly runProgram: (source: string, options: RunOptions) => Promise<Outcome>
  readonly resumeProgram: (run: string, options: ResumeOptions) => Promise<Outcome>
  /** What all programs have in common. */
  readonly whose: Pick<RunOptions, 'domain' | 'principal'>
}

/** Of an expression: it computes with what it is given, and does nothing else. */
const EXPRESSION_LIMITS: Partial<Limits> = {
  fuel: 50_000_000,
  memoryBytes: 16 * 1024 * 1024,
  wallMs: 2_000,
  timers: 0,
}

export class PlanWork implements NodeWork {
  readonly #parts: PlanWorkParts
  readonly #gate: Gate
  /** Calls that are under way, by their numbers. */
  readonly #recording = new Map<number, CallWork>()

  constructor(parts: PlanWorkParts) {
    this.#parts = parts
    const callLog: CallLog = {
      intent: (intent) => this.#intent(intent),
      result: (result) => this.#result(result),
    }
    this.#gate = parts.openGate((parts.plan.grants ?? []).map(gateGrant), { guestId: parts.guestId, callLog })
  }

  async call(work: CallWork): Promise<WorkEnd> {
    const { call, node, input, recorded } = work
    const { now } = this.#parts
    const pending: PendingCall = {
      id: call,
      capability: node.capability,
      args: input ?? undefined,
      bytes: measureValue(input).bytes,
      askedAtMs: now(),
    }
    this.#recording.set(call, work)
    const stop = stopOf(work)
    try {
      if (recorded === undefined)
        return this.#callEnd(work, (await this.#gate.call(pending, stop.source)).answer, stop)
      const admission = await this.#gate.readmit(pending, stop.source)
      const ended = admission instanceof Refusal ? admission : await this.#gate.invoke(admission, stop.source)
      if (admission instanceof Refusal)
        return { end: 'failure', error: failureOf(admission.failure), repeatable: false }
      const { answer } = await this.#gate.conclude(admission, ended, stop.source)
      return this.#callEnd(work, answer, stop)
    } finally {
      this.#recording.delete(call)
      stop.forget()
    }
  }

  #callEnd({ node, signal, timeoutMs }: CallWork, answer: Answer, stop: Stopping): WorkEnd {
    if (answer.ok) return { end: 'value', value: answer.value }
    const { code, message } = answer.error
    if (code === 'not_recorded' || code === 'lease_lost')
      return { end: 'lost', error: new CaissonError(code, message) }
    const repeatable = this.#gate.isRepeatable(node.capability)
    if (code !== 'aborted') return { end: 'failure', error: failureOf(answer.error), repeatable }
    // Stopped in the middle: what became of it is not known.
    if (!repeatable) return { end: 'in_doubt' }
    const error: GuestFailure =
      stop.timedOut && !signal.aborted
        ? { code: 'timeout', message: `The call did not end within ${timeoutMs} ms.` }
        : answer.error
    return { end: 'failure', error: failureOf(error), repeatable }
  }

  async #intent({ id, idempotencyKey, repeatable }: CallIntent): Promise<void> {
    await this.#recording.get(id)?.admitted({ key: idempotencyKey, repeatable: repeatable === true })
  }

  async #result(result: CallResult): Promise<void> {
    const work = this.#recording.get(result.id)
    await work?.answered(
      result.ok ? { ok: true, value: result.value } : { ok: false, error: failureOf(result) },
    )
  }

  async program(work: ProgramWork): Promise<WorkEnd> {
    const { path, node, input, attempt, atMs, resumed, signal, timeoutMs, limits: own } = work
    const grants = (node.grants ?? []).map((grant) => this.#programGrant(grant))
    const limits = { ...own, wallMs: Math.min(own.wallMs, timeoutMs ?? own.wallMs) }
    const run = grants.length > 0 ? this.#programRun(path, attempt) : undefined
    const common = { ...this.#parts.whose, grants, signal }
    const options: RunOptions = {
      ...common,
      input,
      limits,
      seed: programSeed(this.#parts.guestId, path, attempt),
      ...(node.language && { language: node.language }),
      ...(node.modules && { modules: node.modules }),
      // The record of a kept run has its times. One that is begun anew has the same ones again.
      ...(run === undefined ? { nowMs: atMs } : { run }),
    }
    const begin = (): Promise<Outcome> => this.#parts.runProgram(node.source ?? '', options)
    try {
      const outcome = run !== undefined && resumed ? await this.#goOn(run, common, begin) : await begin()
      const { fuel, calls, wallMs: activeMs, bytesIn, bytesOut } = outcome.usage
      const used = { fuel, calls, activeMs, bytes: bytesIn + bytesOut }
      return { ...programEnd(outcome, signal, this.#mayRepeat(node.grants)), used }
    } catch (error) {
      if (!CaissonError.is(error)) throw error
      if (LOST.has(error.code)) return { end: 'lost', error }
      const { code, message } = error
      return { end: 'failure', error: failureOf({ code, message }), repeatable: false }
    }
  }

  /** An earlier process may have begun the program, or died before. */
  async #goOn(run: string, going: ResumeOptions, begin: () => Promise<Outcome>): Promise<Outcome> {
    try {
      return await this.#parts.resumeProgram(run, going)
    } catch (error) {
      if (CaissonError.is(error, 'not_found')) return begin()
      throw error
    }
  }

  /** Paths are longer than names of runs may be, and each attempt is a run of its own. */
  #programRun(path: string, attempt: number): string {
    const name = sha256(new TextEncoder().encode(`${path}\n${attempt}`)).slice(
      'sha256:'.length,
      'sha256:'.length + 24,
    )
    return `${this.#parts.run}.${name}`
  }

  /** The conditions of the plan hold for its programs too, beside their own. */
  #programGrant(grant: PlanGrant): Grant {
    const own = ruleOf(grant)
    const plans = (this.#parts.plan.grants ?? [])
      .map(ruleOf)
      .find(({ capability }) => capability === own.capability)
    const joined = { ...plans, ...own, approve: own.approve === true || plans?.approve === true }
    const { only: _only, approve, ...rest } = joined
    return {
      ...rest,
      ...(approve && { approve }),
      constrain: (args) => argumentProblem(plans?.only, args) ?? argumentProblem(own.only, args) ?? true,
    }
  }

  #mayRepeat(grants: readonly PlanGrant[] = []): boolean {
    return grants.every((grant) => this.#gate.isRepeatable(ruleOf(grant).capability))
  }

  /** For conditions and small mappings of the plan. */
  readonly evaluate: EvaluateExpression = async (source, values, signal): Promise<Evaluated> => {
    const names = Object.keys(values)
    const program = `return (({ ${names.join(', ')} }) => (\n${source}\n))(input)`
    const outcome = await this.#parts.runProgram(program, {
      ...this.#parts.whose,
      input: values,
      form: 'body',
      fileName: 'expression.js',
      limits: EXPRESSION_LIMITS,
      // Equal expressions over equal values give equal values.
      seed: 0,
      nowMs: this.#parts.startedAtMs(),
      signal,
    })
    if (outcome.status === 'completed') return { ok: true, value: outcome.value }
    const end = programEnd(outcome, signal, true)
    const error =
      end.end === 'failure' ? end.error : failureOf({ code: 'aborted', message: 'It was stopped.' })
    return { ok: false, error: { ...error, message: `The expression failed: ${error.message}` } }
  }
}

/** Equal for every process that goes on with an attempt, and different for any other. */
export function programSeed(guestId: string, path: string, attempt: number): Uint8Array {
  return sha256Bytes(new TextEncoder().encode(JSON.stringify(['program seed 1', guestId, path, attempt])))
}

const LOST: ReadonlySet<string> = new Set([
  'lease_lost',
  'store_conflict',
  'store_failed',
  'disposed',
  'aborted',
])

function gateGrant(grant: PlanGrant): Grant {
  const { only, ...rule } = ruleOf(grant)
  return only === undefined ? rule : { ...rule, constrain: (args) => argumentProblem(only, args) ?? true }
}

function programEnd(outcome: Outcome, signal: AbortSignal, repeatable: boolean): WorkEnd {
  switch (outcome.status) {
    case 'completed':
      return { end: 'value', value: outcome.value }
    case 'suspended':
      return { end: 'in_doubt' }
    case 'exhausted': {
      const { limit, message } = outcome
      const error = {
        class: limit === 'wall' ? 'timeout' : 'fatal',
        code: 'budget_exhausted',
        message,
      } as const
      return { end: 'failure', error, repeatable }
    }
    case 'failed': {
      const { code = 'capability_failed', name, message } = outcome.error
      if (outcome.resumable === true && code !== 'aborted')
        return { end: 'lost', error: new CaissonError('lease_lost', message) }
      const error = failureOf({ code, message: code === 'aborted' ? message : `${name}: ${message}` })
      return { end: 'failure', error, repeatable: repeatable && !signal.aborted }
    }
  }
}

interface Stopping {
  readonly source: StopSource
  readonly timedOut: boolean
  forget(): void
}

/** Stops when the signal says so, and when the attempt takes too long. */
function stopOf({ signal, timeoutMs }: Pick<CallWork, 'signal' | 'timeoutMs'>): Stopping {
  const source = new StopSource()
  let timedOut = false
  const raise = (): void => source.stop()
  if (signal.aborted) raise()
  signal.addEventListener('abort', raise)
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => {
          timedOut = true
          raise()
        }, timeoutMs)
  return {
    source,
    get timedOut() {
      return timedOut
    },
    forget() {
      clearTimeout(timer)
      signal.removeEventListener('abort', raise)
    },
  }
}
