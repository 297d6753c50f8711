/** One run of a drawn plan, and what must hold of it after whatever was done to it. */
import { expect } from 'vitest'
import { nodeCheckpointPorts } from '../../../host-bindings/system/checkpoint-ports.node.ts'
import { CaissonError, type PlanOutcome, type PlanRun, type RecordedEvent } from '../../../src/entry/node.ts'
import { imageOfState } from '../../../src/graph/run/image-of-state.ts'
import { ENDED } from '../../../src/graph/run/transitions.ts'
import { PlanShelf } from '../../../src/runtime/plans/plan-record.ts'
import { type History, readHistory, readStanding } from '../../../src/runtime/plans/read-standing.ts'
import { watchedStore } from '../../../src/runtime/watched-store.ts'
import type { DrawnPlan } from './drawn-plans.ts'
import { type Process, REPEATABLE, World } from './world.ts'

const RUN = 'run'
const OWNER = { tenant: 'default', principal: '', run: RUN }
/** Outcomes of a request that a process can be refused with, whatever it wanted. */
const REFUSED: ReadonlySet<string> = new Set([
  'invalid_transition',
  'approval_mismatch',
  'approval_expired',
  'in_doubt',
  'unknown_call',
  'confirmation_required',
  'store_conflict',
])

export class ModelRun {
  readonly world: World
  readonly #drawn: DrawnPlan
  #events = 0
  #ended: string | undefined

  constructor(drawn: DrawnPlan) {
    this.#drawn = drawn
    this.world = new World(drawn.failing)
  }

  /** Something that a process does with the run, until it is at rest, is refused, or dies. */
  async inProcess(writes: number, work: (run: PlanRun) => Promise<void>): Promise<PlanOutcome | undefined> {
    const process = this.world.open(writes)
    try {
      const run = await this.#opened(process)
      await work(run)
      return await run.outcome()
    } catch (error) {
      if (!process.hasDied && !(CaissonError.is(error) && REFUSED.has(error.code))) throw error
      return undefined
    } finally {
      await process.runs.close()
      await this.check()
    }
  }

  async #opened({ runs }: Process): Promise<PlanRun> {
    try {
      return await runs.open(RUN, {})
    } catch (error) {
      if (!CaissonError.is(error, 'not_found')) throw error
      return await runs.propose(this.#drawn.plan, { by: 'model', run: RUN, input: [1, 2] })
    }
  }

  async standing(): Promise<History | undefined> {
    try {
      const parts = {
        store: watchedStore(this.world.store),
        sealing: { ports: nodeCheckpointPorts },
        plans: new PlanShelf(),
      }
      const history = await readHistory(parts, OWNER)
      const standing = await readStanding(parts, OWNER)
      // By an image and what came after it, it stands where it does by all of its journal; somebody may be writing it on.
      if (standing.end.length === history.end.length) {
        expect(standing.point).toBe(history.point)
        expect(imageOfState(standing.state)).toEqual(imageOfState(history.state))
      }
      return history
    } catch (error) {
      if (CaissonError.is(error, 'not_found')) return undefined
      throw error
    }
  }

  /** Whether the effect of the call of a node happened: the world knows. */
  async happened(node: string): Promise<string | undefined> {
    const key = (await this.standing())?.state.node(node)?.call?.key
    return key === undefined ? undefined : this.world.effects.get(key)?.value
  }

  async check(): Promise<void> {
    // 1. What must not be done twice is done once, whoever died when.
    for (const [key, { tool, times }] of this.world.effects)
      if (!REPEATABLE.has(tool)) expect(times, key).toBe(1)
    const standing = await this.standing()
    if (standing === undefined) return
    const { state, events } = standing
    // 2. Nothing that was written down is gone, and what has ended goes on no more.
    expect(events.length).toBeGreaterThanOrEqual(this.#events)
    this.#events = events.length
    if (this.#ended !== undefined) expect(state.status).toBe(this.#ended)
    if (ENDED.has(state.status ?? 'proposed')) this.#ended = state.status
    // 3. Every answer is the one that the world gave.
    this.#checkAnswers(events)
    // 4. Budgets hold, with what was allowed on top.
    const { budget = {} } = state.plan
    for (const part of ['steps', 'calls'] as const) {
      const most = budget[part]
      if (most !== undefined)
        expect(state.used[part] ?? 0, part).toBeLessThanOrEqual(most + (state.more[part] ?? 0))
    }
  }

  #checkAnswers(events: readonly RecordedEvent[]): void {
    const keys = new Map<number, string>()
    for (const event of events) {
      if (event.type === 'node_called') keys.set(event.call, event.key)
      if (event.type !== 'node_answered' || event.answer?.ok !== true || !('value' in event.answer.value))
        continue
      const key = keys.get(event.call) ?? ''
      expect(event.answer.value.value, key).toBe(this.world.effects.get(key)?.value)
    }
  }

  /** Lets it end: people agree, say the truth, and allow what is missing. */
  async finish(): Promise<void> {
    for (let rounds = 0; rounds < 60; rounds += 1) {
      const state = (await this.standing())?.state
      if (state?.status !== undefined && ENDED.has(state.status)) return
      await this.inProcess(Number.POSITIVE_INFINITY, (run) => this.goOn(run, true))
    }
    throw new Error(`It does not end: ${(await this.standing())?.state.status}`)
  }

  /** Whatever a run needs to go on. @param agree decides over all requests too */
  async goOn(run: PlanRun, agree: boolean): Promise<void> {
    const { status } = await run.view()
    if (status === 'proposed') await run.approve({ by: 'ann', digest: (await run.view()).request })
    if (status === 'proposed' || status === 'approved') {
      await run.start({ by: 'ann' })
      return
    }
    if (agree) {
      for (const { digest, decided } of await run.requests())
        if (decided === undefined) await run.decide({ request: digest, by: 'ann', decision: 'approve' })
    }
    const answers = []
    for (const { node, settled } of await run.doubts()) {
      if (settled) continue
      const value = await this.happened(node)
      answers.push(
        value === undefined
          ? { node, by: 'ann', happened: false as const }
          : { node, by: 'ann', happened: true as const, value },
      )
    }
    const more = agree ? { steps: 50, calls: 50 } : undefined
    await run.resume({ by: 'policy', unseen: true, answers, ...(more && { more }) })
  }
}
