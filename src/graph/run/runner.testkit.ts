/** Runs of plans by the runner alone: what their nodes do is the test's, journal and values are real. */
import { createMemoryRunStore } from '../../../host-bindings/store/memory-run-store.ts'
import { nodeCheckpointPorts } from '../../../host-bindings/system/checkpoint-ports.node.ts'
import type { Digest } from '../../base/digest.ts'
import { Journal } from '../../journal/journal.ts'
import type { RunStore } from '../../ports/run-store.ts'
import { definePlan } from '../plan/define-plan.ts'
import type { Plan, PlanNode } from '../plan/plan.ts'
import { decisionEvents, requestsOf } from './decisions.ts'
import { answerEvents, doubtsOf } from './doubts.ts'
import type { EvaluateExpression } from './evaluate.ts'
import type { CallWork, NodeWork, ProgramWork, WorkEnd } from './node-work.ts'
import type { Failure, RunEvent, Used } from './run-event.ts'
import { RunState } from './run-state.ts'
import { RunValues } from './run-values.ts'
import { Runner } from './runner.ts'
import { ENDED } from './transitions.ts'

export const call = (more: object = {}): PlanNode =>
  ({ kind: 'call', capability: 'a.b', ...more }) as PlanNode
const NO_DIGEST = `sha256:${'0'.repeat(64)}` as Digest
export const TRANSIENT: Failure = { class: 'transient', code: 'network_failed', message: 'no' }

export function planOf(nodes: Record<string, PlanNode>, more: Partial<Plan> = {}): Plan {
  return { format: 'plan/1', name: 'p', version: '1', grants: ['a.b'], nodes, ...more }
}

/** What the nodes do, and what became of it. */
export class World implements NodeWork {
  /** Effects by their keys, as a service that does not deduplicate sees them. */
  readonly effects: string[] = []
  readonly inputs: Map<string, unknown> = new Map()
  nowMs = 1_000
  readonly answer: (path: string, input: unknown, attempt: number) => unknown
  readonly repeatable: (path: string) => boolean

  constructor(answer: World['answer'] = (path) => path, repeatable: World['repeatable'] = () => true) {
    this.answer = answer
    this.repeatable = repeatable
  }

  readonly #attempts = new Map<string, number>()

  async call(work: CallWork): Promise<WorkEnd> {
    const { path, recorded } = work
    const repeatable = this.repeatable(path)
    const key = recorded?.key ?? `key-${work.call}`
    const { capability } = work.node
    const short =
      recorded === undefined
        ? work.allowance.reserve({ capability, call: work.call, bytesOut: 0, cost: undefined })
        : undefined
    if (short !== undefined) {
      const error: Failure = { class: 'fatal', code: short.code, message: short.message }
      return { end: 'failure', error, repeatable: false }
    }
    try {
      if (recorded === undefined) await work.admitted({ key, repeatable })
      this.effects.push(key)
      const end = this.#endOf(path, work.input, repeatable)
      await work.answered(
        end.end === 'value' ? { ok: true, value: end.value } : { ok: false, error: end.error },
      )
      return end
    } catch (error) {
      return { end: 'lost', error: error as Error }
    }
  }

  async program({ path, input }: ProgramWork): Promise<WorkEnd> {
    return this.#endOf(path, input, false)
  }

  #endOf(path: string, input: unknown, repeatable: boolean): Extract<WorkEnd, { end: 'value' | 'failure' }> {
    const attempt = (this.#attempts.get(path) ?? 0) + 1
    this.#attempts.set(path, attempt)
    this.inputs.set(path, input)
    const value = this.answer(path, input, attempt)
    return isFailure(value) ? { end: 'failure', error: value, repeatable } : { end: 'value', value }
  }
}

function isFailure(value: unknown): value is Failure {
  return typeof value === 'object' && value !== null && 'class' in value
}

const EXPRESSIONS: Readonly<Record<string, (values: Readonly<Record<string, unknown>>) => unknown>> = {
  true: () => true,
  'n >= 3': ({ n }) => (n as number) >= 3,
  'n + 1': ({ n }) => (n as number) + 1,
}

const known: EvaluateExpression = async (source, given) => ({ ok: true, value: EXPRESSIONS[source]?.(given) })

/** A process that goes on with the run of a store until it comes to rest. */
export async function goOn(
  store: RunStore,
  plan: Plan,
  world: World,
  input: unknown = null,
  more?: Used,
  { expression = known, signal }: { readonly expression?: EvaluateExpression; signal?: AbortSignal } = {},
): Promise<Process> {
  const lease = await store.lease('run', 60_000)
  const state = new RunState(plan)
  const values = new RunValues(store)
  const events: RunEvent[] = []
  const sealing = { ports: nodeCheckpointPorts }
  try {
    const journal = await Journal.open({ store, run: 'run', tenant: 't', sealing }, lease, (record) => {
      state.apply(record as RunEvent)
    })
    const runner = new Runner({
      run: 'run',
      state,
      journal,
      values,
      work: world,
      expression,
      clock: { now: () => world.nowMs },
      sleep: async (ms) => {
        world.nowMs += ms
      },
      onEvent: (event) => events.push(event),
    })
    if (state.status === undefined) {
      const { digest } = definePlan(plan)
      const given = await values.keep(input)
      await runner.record(
        { type: 'proposed', format: 'run/1', id: 'r', tools: {}, plan: digest, input: given, by: 'ann' },
        { type: 'approved', request: digest, by: 'bob' },
        { type: 'started', by: 'bob', atMs: world.nowMs },
      )
    }
    if (more !== undefined && state.status === 'frozen')
      await runner.record({ type: 'confirmed', point: NO_DIGEST, by: 'bob', more })
    const decided = (): Promise<boolean> => decideAll(state, values, runner, world.nowMs)
    await decided()
    await runner.drive(signal)
    while (await decided()) await runner.drive(signal)
    return { state, events, values }
  } finally {
    await lease.release()
  }
}

interface Process {
  readonly state: RunState
  readonly events: readonly RunEvent[]
  readonly values: RunValues
}

/** People who agree with everything but more budget, and say that what is in doubt did not happen. */
async function decideAll(
  state: RunState,
  values: RunValues,
  runner: Runner,
  nowMs: number,
): Promise<boolean> {
  const doubts = await doubtsOf(state, values)
  if (state.status === 'frozen' && doubts.length === 0) return false
  const open = (await requestsOf(state, values)).filter(({ decided }) => decided === undefined)
  const events: RunEvent[] = [
    ...(state.status === 'frozen' ? [{ type: 'confirmed', point: NO_DIGEST, by: 'bob' } as const] : []),
    ...(await answerEvents(
      state,
      values,
      doubts.map(({ node, call }) => ({ node, call, by: 'bob', happened: false })),
    )),
    ...(open.length === 0
      ? []
      : await decisionEvents(
          state,
          values,
          open.map(({ digest }) => ({ request: digest, by: 'bob', decision: 'approve' })),
          nowMs,
        )),
  ]
  await runner.record(...events)
  return events.length > 0 && !ENDED.has(state.status ?? 'proposed')
}

export async function run(
  plan: Plan,
  world: World = new World(),
  input: unknown = null,
): Promise<Process & { output: unknown }> {
  const process = await goOn(createMemoryRunStore(), definePlan(plan).plan, world, input)
  const { output } = process.state
  return { ...process, output: output === undefined ? undefined : await process.values.load(output) }
}
