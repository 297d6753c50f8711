/** A run of a plan in a store, as its methods change it. */
import type { Digest } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import { clipText, escapeText } from '../../base/escape-text.ts'
import type { DefinedPlan } from '../../graph/plan/define-plan.ts'
import type { Plan } from '../../graph/plan/plan.ts'
import {
  type Decision,
  decisionEvents,
  type OpenRequest,
  outsideEvents,
  requestsOf,
} from '../../graph/run/decisions.ts'
import { answerEvents, type DoubtAnswer, doubtsOf, type OpenDoubt } from '../../graph/run/doubts.ts'
import type { RunEvent } from '../../graph/run/run-event.ts'
import type { RunState } from '../../graph/run/run-state.ts'
import type { RunValues } from '../../graph/run/run-values.ts'
import { ENDED } from '../../graph/run/transitions.ts'
import {
  checkAnswers,
  checkApprove,
  checkDecisions,
  checkEvents,
  checkReason,
  checkResume,
  checkSend,
  checkStart,
} from './check-plan-options.ts'
import { type HeldPlanRun, timeIn } from './held-plan-run.ts'
import type { LiveRun } from './live-run.ts'
import type { PlanGuest } from './plan-guests.ts'
import { outcomeOf } from './plan-outcome.ts'
import { pointOf } from './plan-record.ts'
import type {
  ApproveOptions,
  By,
  EventsOptions,
  PlanOutcome,
  PlanRun,
  PositionedEvent,
  ReasonOptions,
  ResumePlanOptions,
  StartOptions,
} from './plan-run.ts'
import { loadWasm } from './plan-wasm.ts'
import { keepStanding, readStanding, requestOf, type Standing } from './read-standing.ts'
import type { RunCut } from './run-cut.ts'
import { runEvents } from './run-events.ts'
import { isSealed, openValues, runKeyOf } from './run-key.ts'
import { type RunView, viewOf, wasInterrupted } from './run-view.ts'
import { importMarkOf } from './transfer/import-mark.ts'

/** Of a run that came from elsewhere. */
const IMPORTED_STANDS = { reason: 'interrupted', message: 'It was imported.' } as const

export class StoredPlanRun implements PlanRun {
  readonly #live: LiveRun
  readonly #plan: DefinedPlan

  constructor(live: LiveRun, plan: DefinedPlan) {
    this.#live = live
    this.#plan = plan
  }

  get run(): string {
    return this.#live.owner.run
  }

  get plan(): Plan {
    return this.#plan.plan
  }

  get digest(): Digest {
    return this.#plan.digest
  }

  view(): Promise<RunView> {
    const { isDriven } = this.#live
    return this.#look((standing) => this.#viewOf(standing, isDriven))
  }

  async #viewOf(standing: Standing, isDriven: boolean): Promise<RunView> {
    const { plan, state, point, request } = standing
    const isAtWork = isDriven || (wasInterrupted(state) && (await this.#live.isHeldElsewhere()))
    const view = {
      ...viewOf({ run: this.run, plan, state, point, request, isDriven: isAtWork }),
      ...(await this.#erased(state)),
      ...(standing.cut && { cut: shownCut(standing.cut) }),
    }
    if (!(await this.#isImported(standing))) return view
    return { ...view, status: 'frozen', frozen: view.frozen ?? IMPORTED_STANDS }
  }

  async input(): Promise<unknown> {
    return this.#lookAtValues((state, values) => values.load(state.input ?? { value: null }))
  }

  async guests(): Promise<readonly PlanGuest[]> {
    const { parts } = this.#live
    const { planGuests } = await import('./plan-guests.ts')
    const { monotonic } = await parts.wasmCheck()
    return planGuests(this.plan, (digest) => loadWasm(parts, digest), monotonic)
  }

  async requests(): Promise<readonly OpenRequest[]> {
    return this.#lookAtValues(requestsOf)
  }

  async doubts(): Promise<readonly OpenDoubt[]> {
    return this.#lookAtValues(doubtsOf)
  }

  async approve(options: ApproveOptions): Promise<void> {
    checkApprove(options)
    const { by, digest, comment } = options
    await this.#live.change(async ({ state }) => {
      const request = requestOf(this.#live.owner, state)
      if (digest !== request) {
        throw new CaissonError(
          'approval_mismatch',
          'What is approved is not what was proposed: approve the `request` of the view.',
          { details: { request } },
        )
      }
      // The digest stands for the tools too. Whether they are still these is asked where it starts.
      return [{ type: 'approved', request, by, ...(comment !== undefined && { comment }) }]
    })
  }

  async reject(options: ReasonOptions): Promise<void> {
    checkReason(options)
    const { by, reason } = options
    await this.#live.change(async () => [{ type: 'rejected', by, reason }])
  }

  async start(options: StartOptions): Promise<void> {
    checkStart(options)
    const { by, signal } = options
    const { parts } = this.#live
    await this.#live.change(
      async ({ state }) => {
        this.#checkScope(state)
        this.#checkTools(state)
        return [{ type: 'started', by, atMs: timeIn(state, parts) }]
      },
      true,
      signal,
    )
  }

  async resume(options: ResumePlanOptions): Promise<void> {
    checkResume(options)
    await this.#live.change((held) => this.#resumption(held, options), true, options.signal)
  }

  /** What is recorded when a run goes on. */
  async #resumption(held: HeldPlanRun, options: ResumePlanOptions): Promise<readonly RunEvent[]> {
    const { by, answers = [], more } = options
    const { state, values } = held
    checkMayGoOn(state)
    // It goes on already: by whoever drives it here.
    if (this.#live.isDriven) return []
    this.#checkScope(state)
    this.#checkTools(state)
    const events = [...(await answerEvents(state, values, answers))]
    const isFrozen = state.status === 'frozen'
    const { isImported } = held
    if (!isFrozen && !isImported && !wasInterrupted(state)) return events
    const point = pointOf(this.#live.owner, held.end)
    // No policy speaks for what comes from elsewhere: somebody has to have seen it.
    checkPoint(isImported ? { ...options, unseen: false } : options, point)
    checkDoubts(state, events)
    const isRunning = state.status === 'running'
    if (isRunning)
      events.push({
        type: 'frozen',
        reason: 'interrupted',
        message: isImported ? IMPORTED_STANDS.message : 'Whoever drove the run stopped.',
      })
    events.push({ type: 'confirmed', point, by, ...(more && { more }) })
    return events
  }

  async decide(decisions: Decision | readonly Decision[]): Promise<void> {
    const all = listOf(decisions)
    checkDecisions(all)
    await this.#live.change(({ state, values }) =>
      decisionEvents(state, values, all, timeIn(state, this.#live.parts)),
    )
  }

  async answer(answers: DoubtAnswer | readonly DoubtAnswer[]): Promise<void> {
    const all = listOf(answers)
    checkAnswers(all)
    await this.#live.change(({ state, values }) => answerEvents(state, values, all))
  }

  async send(event: string, value: unknown, options: By): Promise<void> {
    checkSend(event, options)
    const { by } = options
    await this.#live.change(({ state, values }) =>
      outsideEvents(state, values, { name: event, value, by }, timeIn(state, this.#live.parts)),
    )
  }

  async cancel(options: ReasonOptions): Promise<void> {
    checkReason(options)
    const { by, reason } = options
    await this.#live.change(async ({ state }) => {
      // What was done is undone with what there is here.
      if (state.startedAtMs !== undefined) this.#checkScope(state)
      return [{ type: 'cancel_asked', by, reason }]
    }, true)
  }

  events(options: EventsOptions = {}): AsyncIterable<PositionedEvent> {
    checkEvents(options)
    return runEvents(this.#live, options)
  }

  async outcome(): Promise<PlanOutcome> {
    const rest = await this.#live.rest()
    if (rest !== undefined) return rest
    return this.#look(async (standing) => {
      const { parts, owner } = this.#live
      const { state, point } = standing
      const values = await openValues(parts, owner, state)
      if (!(await this.#isImported(standing))) return outcomeOf(this.run, state, values, point)
      return {
        run: this.run,
        used: state.used,
        status: 'frozen',
        ...(state.frozen ?? IMPORTED_STANDS),
        point,
      }
    })
  }

  async #erased(state: RunState): Promise<Pick<RunView, 'erased'>> {
    if (!isSealed(state)) return {}
    const { parts, owner } = this.#live
    const { erased } = await runKeyOf(parts, owner)
    return erased === undefined ? {} : { erased }
  }

  /** Whether it came from elsewhere, and nobody let it go on since. What has ended goes on for nobody. */
  async #isImported({ state, end }: Standing): Promise<boolean> {
    if (ENDED.has(state.status ?? 'proposed')) return false
    const { parts, owner } = this.#live
    const mark = await importMarkOf(parts, owner)
    return mark?.length === end.length && mark.digest === end.digest
  }

  /** What is made of where it stands: nobody else has the state meanwhile. */
  async #look<T>(make: (standing: Standing) => Promise<T>): Promise<T> {
    const { parts, owner } = this.#live
    const standing = await readStanding(parts, owner)
    const made = await make(standing)
    keepStanding(parts, owner, standing)
    return made
  }

  #lookAtValues<T>(make: (state: RunState, values: RunValues) => Promise<T>): Promise<T> {
    const { parts, owner } = this.#live
    return this.#look(async ({ state }) => make(state, await openValues(parts, owner, state)))
  }

  /** @throws CaissonError `approval_mismatch` with `details: { widened }` where tools reach further than was approved */
  #checkScope({ proposal }: RunState): void {
    const was = proposal?.scope ?? []
    const widened = this.#live.parts.scope.filter((one) => !was.includes(one))
    if (widened.length === 0) return
    throw new CaissonError(
      'approval_mismatch',
      `The tools of this runtime reach more than was approved: ${widened.map((one) => escapeText(clipText(one, 200))).join(', ')}.`,
      { details: { differs: 'scope', widened, was } },
    )
  }

  /** @throws CaissonError `tool_changed`, `unknown_capability` */
  #checkTools({ proposal }: RunState): void {
    const before = proposal?.tools ?? {}
    const now = this.#live.parts.tools(Object.keys(before))
    const changed = Object.keys(before).filter((name) => before[name] !== now[name])
    if (changed.length === 0) return
    throw new CaissonError(
      'tool_changed',
      `${changed.map((name) => `"${name}"`).join(', ')} ${changed.length === 1 ? 'is' : 'are'} described in another way than when the run was proposed: propose it again.`,
      { details: { tools: changed } },
    )
  }
}

function shownCut({ entries, by, atMs }: RunCut): NonNullable<RunView['cut']> {
  return { entries, by, atMs }
}

function listOf<T>(one: T | readonly T[]): readonly T[] {
  return Array.isArray(one) ? (one as readonly T[]) : [one as T]
}

/** @throws CaissonError `invalid_transition` */
function checkMayGoOn({ status = 'proposed' }: RunState): void {
  if (!ENDED.has(status) && status !== 'proposed' && status !== 'approved') return
  const what = ENDED.has(status) ? 'it has ended' : 'start it first'
  throw new CaissonError('invalid_transition', `The run is ${status}: ${what}.`, { details: { status } })
}

/** @throws CaissonError `confirmation_required` */
function checkPoint({ point: seen, unseen }: ResumePlanOptions, point: Digest): void {
  if (unseen === true || seen === point) return
  const what =
    seen === undefined
      ? 'Look at where it stands, and resume it with that `point`.'
      : 'It does not stand any more where it was looked at: look again.'
  throw new CaissonError('confirmation_required', `The run stands still. ${what}`, { details: { point } })
}

/** @throws CaissonError `in_doubt` */
function checkDoubts(state: RunState, answers: readonly RunEvent[]): void {
  // Of a program with several calls in doubt one answer is not enough.
  const settled = new Set(
    answers.flatMap((event) =>
      event.type === 'node_thawed' || event.type === 'node_skipped' ? [event.node] : [],
    ),
  )
  const open = [...state.live.values()].filter(
    ({ status, path, frozenFor }) => status === 'frozen' && frozenFor === 'in_doubt' && !settled.has(path),
  )
  if (open.length === 0) return
  const nodes = open.map(({ path }) => path)
  throw new CaissonError(
    'in_doubt',
    `Whether ${nodes.map((path) => `"${path}"`).join(', ')} took effect is not known: say what became of it (\`answers\`).`,
    { details: { nodes } },
  )
}
