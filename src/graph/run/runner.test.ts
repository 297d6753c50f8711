import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../../host-bindings/store/memory-run-store.ts'
import { nodeCheckpointPorts } from '../../../host-bindings/system/checkpoint-ports.node.ts'
import type { Digest } from '../../base/digest.ts'
import { Journal } from '../../journal/journal.ts'
import type { RunStore } from '../../ports/run-store.ts'
import { definePlan } from '../plan/define-plan.ts'
import type { Plan, PlanNode, Template } from '../plan/plan.ts'
import { arbitraryPlan } from './arbitrary-plan.testkit.ts'
import { decisionEvents, requestsOf } from './decisions.ts'
import { answerEvents, doubtsOf } from './doubts.ts'
import type { EvaluateExpression } from './evaluate.ts'
import type { CallWork, NodeWork, ProgramWork, WorkEnd } from './node-work.ts'
import type { Failure, RunEvent, Used } from './run-event.ts'
import { RunState } from './run-state.ts'
import { RunValues } from './run-values.ts'
import { Runner } from './runner.ts'
import { ENDED } from './transitions.ts'

const call = (more: object = {}): PlanNode => ({ kind: 'call', capability: 'a.b', ...more }) as PlanNode
const NO_DIGEST = `sha256:${'0'.repeat(64)}` as Digest
const TRANSIENT: Failure = { class: 'transient', code: 'network_failed', message: 'no' }

function planOf(nodes: Record<string, PlanNode>, more: Partial<Plan> = {}): Plan {
  return { format: 'plan/1', name: 'p', version: '1', grants: ['a.b'], nodes, ...more }
}

/** What the nodes do, and what became of it. */
class World implements NodeWork {
  /** Effects by their keys, as a service that does not deduplicate sees them. */
  readonly effects: string[] = []
  readonly inputs = new Map<string, unknown>()
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
async function goOn(
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

async function run(
  plan: Plan,
  world = new World(),
  input: unknown = null,
): Promise<Process & { output: unknown }> {
  const process = await goOn(createMemoryRunStore(), definePlan(plan).plan, world, input)
  const { output } = process.state
  return { ...process, output: output === undefined ? undefined : await process.values.load(output) }
}

describe('a plan that is run', () => {
  it('hands outputs on, and gives its own', async () => {
    const world = new World((path, input) => ({ from: path, rows: [input] }))
    const plan = planOf(
      { a: call({ input: { day: { $from: 'input/day' } } }), b: call({ input: { $from: 'a/rows/0/day' } }) },
      { output: { $from: 'b/rows' } },
    )
    const { state, output } = await run(plan, world, { day: 'monday' })
    expect(state.status).toBe('completed')
    expect(output).toEqual(['monday'])
  })

  it('gives the outputs of an each in the order of its items', async () => {
    const world = new World((_, input) => input)
    const plan = planOf(
      {
        all: {
          kind: 'each',
          over: { $from: 'input' },
          most: 10,
          concurrency: 2,
          do: {
            nodes: { one: call({ input: { item: { $from: 'item' }, at: { $from: 'index' } } }) },
            output: { $from: 'one' },
          },
        },
      },
      { output: { $from: 'all' } },
    )
    const { output } = await run(plan, world, ['x', 'y', 'z'])
    expect(output).toEqual([
      { item: 'x', at: 0 },
      { item: 'y', at: 1 },
      { item: 'z', at: 2 },
    ])
  })

  it('fails an each over more than it takes', async () => {
    const nodes: Record<string, PlanNode> = {
      all: { kind: 'each', over: [1, 2, 3], most: 2, do: { nodes: { one: call() } } },
    }
    const { state } = await run(planOf(nodes))
    expect(state.status).toBe('failed')
    expect(state.failure?.error.message).toContain('3 items, and at most 2 are taken')
  })

  it('goes round a loop until it is done, and no more often than it may', async () => {
    const loop = (most: number): Plan =>
      planOf(
        {
          round: {
            kind: 'loop',
            state: 0,
            most,
            do: { nodes: { add: call() }, output: { $eval: 'n + 1', with: { n: { $from: 'state' } } } },
            until: { $eval: 'n >= 3', with: { n: { $from: 'state' } } },
          },
        },
        { output: { $from: 'round' } },
      )
    expect((await run(loop(5))).output).toBe(3)
    const failed = await run(loop(2))
    expect(failed.state.failure?.error.code).toBe('budget_exhausted')
  })

  it('starts what a choice chose, and skips the rest', async () => {
    const plan = planOf({
      which: {
        kind: 'choice',
        cases: [{ when: { $eval: 'n >= 3', with: { n: 1 } }, take: ['big'] }],
        otherwise: ['small'],
      },
      big: call(),
      small: call(),
      after: call({ after: ['big', 'small'], join: 'any' }),
      not: call({ after: ['big'] }),
    })
    const { state } = await run(plan)
    const status = (id: string): unknown => state.node(id)?.status
    expect([status('big'), status('small'), status('after'), status('not')]).toEqual([
      'skipped',
      'completed',
      'completed',
      'skipped',
    ])
  })

  it('tries again what its plan says, after the time that it says, and nothing else', async () => {
    const world = new World((_, __, attempt) => (attempt < 3 ? TRANSIENT : 'done'))
    const retry = { attempts: 3, on: ['transient'], delayMs: 100 }
    const { state, events } = await run(planOf({ a: call({ retry }) }), world)
    expect(state.status).toBe('completed')
    const shares = events.flatMap((event) => (event.type === 'node_retrying' ? [event.jitter ?? 0] : []))
    const waits = shares.map((share, i) => Math.round(100 * 2 ** i * (1 + share)))
    expect([waits.length, world.nowMs]).toEqual([2, 1_000 + (waits[0] ?? 0) + (waits[1] ?? 0)])
    const other = await run(
      planOf({ a: call({ retry: { ...retry, on: ['timeout'] } }) }),
      new World(() => TRANSIENT),
    )
    expect(other.state.node('a')?.attempt).toBe(1)
    const unsafe = await run(
      planOf({ a: call({ retry }) }),
      new World(
        () => TRANSIENT,
        () => false,
      ),
    )
    expect(unsafe.state.node('a')?.attempt).toBe(1)
  })

  it('takes a value, or the output of another node, in place of what failed', async () => {
    const failing = new World((path) => (path === 'a' || path === 'c' ? TRANSIENT : path))
    const plan = planOf(
      {
        a: call({ fallback: [{ on: ['denied'], value: 'no' }, { value: { $from: 'input' } }] }),
        c: call({ fallback: [{ node: 'd' }] }),
        d: call(),
        e: call({ input: [{ $from: 'a' }, { $from: 'c' }] }),
      },
      { output: { $from: 'e' } },
    )
    const { state } = await run(plan, failing, 'given')
    expect(state.status).toBe('completed')
    expect(failing.inputs.get('e')).toEqual(['given', 'd'])
  })

  it('undoes what was done when a later node fails, in reverse order', async () => {
    const undo = (id: string): object => ({
      compensate: { kind: 'call', capability: 'a.b', input: { id, was: { $from: 'output' } } },
    })
    const world = new World((path) => (path === 'c' ? TRANSIENT : path))
    const plan = planOf({
      a: call(undo('a')),
      b: call({ after: ['a'], ...undo('b') }),
      c: call({ after: ['b'] }),
    })
    const { state, events } = await run(plan, world)
    expect(state.status).toBe('compensated')
    expect(events.flatMap((event) => (event.type === 'node_undone' ? [event.node] : []))).toEqual(['b', 'a'])
    expect(world.inputs.get('a#undo')).toEqual({ id: 'a', was: 'a' })
  })

  it('fails when its output cannot be made, and undoes what was done', async () => {
    const undo = { compensate: { kind: 'call', capability: 'a.b', input: null } }
    const plan = definePlan(planOf({ a: call(undo) }, { output: { $eval: 'true' } })).plan
    const error: Failure = { class: 'fatal', code: 'program_failed', message: 'No such member.' }
    const expression: EvaluateExpression = async () => ({ ok: false, error })
    const { state, events } = await goOn(createMemoryRunStore(), plan, new World(), null, undefined, {
      expression,
    })
    expect(state.status).toBe('compensated')
    expect(state.failure).toMatchObject({ node: '', error: { message: expect.stringContaining('output') } })
    expect(events.map(({ type }) => type)).toContain('node_undone')
  })

  it('waits for a person and for a time, and goes on with the answer', async () => {
    const plan = planOf({
      ok: { kind: 'approval', question: 'Well?', show: { $from: 'input' } },
      later: { kind: 'wait', forMs: 5_000, after: ['ok'] },
      go: call({ after: ['later'], input: { $from: 'ok/approved' } }),
    })
    const world = new World()
    const { state } = await run(plan, world, 'shown')
    expect(state.status).toBe('completed')
    expect(world.nowMs).toBe(6_000)
    expect(world.inputs.get('go')).toBe(true)
  })

  it('keeps large values once, beside the journal', async () => {
    const large = 'x'.repeat(100_000)
    const world = new World((_, input) => input ?? large)
    const chain = Object.fromEntries(
      Array.from({ length: 20 }, (_, i) => [`n${i}`, call(i === 0 ? {} : { input: { $from: `n${i - 1}` } })]),
    )
    const { values, state } = await run(planOf(chain), world)
    expect(state.status).toBe('completed')
    expect(values.takeAdded()).toHaveLength(1)
  })
})

describe('a process that is brought to rest in the middle of an expression', () => {
  const expression = { $eval: 'true' }
  const places: Readonly<Record<string, { readonly nodes: Record<string, PlanNode>; output?: Template }>> = {
    'the condition of a node': { nodes: { a: call({ when: expression }) } },
    'the input of a node': { nodes: { a: call({ input: expression }) } },
    'a case of a choice': {
      nodes: { which: { kind: 'choice', cases: [{ when: expression, take: ['a'] }] }, a: call() },
    },
    'the end of a round': {
      nodes: { a: { kind: 'loop', most: 3, do: { nodes: { one: call() } }, until: expression } },
    },
    'the output of a plan in it': {
      nodes: { a: { kind: 'each', over: [1], most: 1, do: { nodes: { one: call() }, output: expression } } },
    },
    'the output of the run': { nodes: { a: call() }, output: expression },
    'what stands in': { nodes: { fails: call({ fallback: [{ value: expression }] }) } },
    'the input of what undoes': {
      nodes: {
        a: call({ compensate: { kind: 'call', capability: 'a.b', input: expression } }),
        fails: call({ after: ['a'] }),
      },
    },
  }

  it.each(Object.entries(places))(
    'leaves %s to whoever goes on with the run',
    async (_, { nodes, output }) => {
      const store = createMemoryRunStore()
      const { plan } = definePlan(planOf(nodes, output === undefined ? {} : { output }))
      const world = new World((path) => (path === 'fails' ? TRANSIENT : path))
      const rest = new AbortController()
      let stopped = 0
      const first = await goOn(store, plan, world, null, undefined, {
        signal: rest.signal,
        expression: async () => {
          stopped += 1
          rest.abort()
          return { ok: false, error: { class: 'unknown', code: 'aborted', message: 'The run was aborted.' } }
        },
      })
      expect([stopped, ENDED.has(first.state.status ?? 'proposed')]).toEqual([1, false])
      expect(JSON.stringify(first.events)).not.toContain('aborted')
      const { state } = await goOn(store, plan, world)
      const lived = await run(plan, new World(world.answer))
      expect(state.status).toBe(lived.state.status)
      expect(['completed', 'compensated']).toContain(state.status)
    },
  )
})

describe('a budget', () => {
  const three = { a: call(), b: call({ after: ['a'] }), c: call({ after: ['b'] }) }

  it('of steps is not gone beyond, and the run stands still before the next one', async () => {
    const world = new World()
    const { state } = await run(planOf(three, { budget: { steps: 2 } }), world)
    expect(state.status).toBe('frozen')
    expect(state.used).toEqual({ steps: 2, calls: 2 })
    expect(world.effects).toHaveLength(2)
  })

  it('of calls is shared by those that are made at once', async () => {
    const world = new World()
    const { state } = await run(planOf({ a: call(), b: call(), c: call() }, { budget: { calls: 2 } }), world)
    expect(state.status).toBe('frozen')
    expect(world.effects).toHaveLength(2)
  })

  it('of a node bounds everything in it', async () => {
    const each: PlanNode = {
      kind: 'each',
      over: [1, 2, 3, 4],
      most: 4,
      concurrency: 1,
      budget: { calls: 3 },
      do: { nodes: { one: call() } },
    }
    const world = new World()
    const { state } = await run(planOf({ all: each }, { budget: { calls: 10 } }), world)
    expect(state.status).toBe('frozen')
    expect(world.effects).toHaveLength(3)
    expect(state.node('all')?.used.calls).toBe(3)
  })

  it('goes on where it was after the process died, and with what a person allows on top', async () => {
    const store = createMemoryRunStore()
    const plan = definePlan(planOf(three, { budget: { steps: 2 } })).plan
    const world = new World()
    const first = await goOn(store, plan, world)
    expect(first.state.status).toBe('frozen')
    const again = await goOn(store, plan, world)
    expect([again.state.status, again.state.used.steps]).toEqual(['frozen', 2])
    const more = await goOn(store, plan, world, null, { steps: 1 })
    expect([more.state.status, more.state.used.steps]).toEqual(['completed', 3])
  })

  it('of time ends the wait', async () => {
    const plan = planOf({ a: { kind: 'wait', forMs: 100_000 } }, { budget: { wallMs: 5_000 } })
    const world = new World()
    const { state } = await run(plan, world)
    expect([state.status, world.nowMs]).toEqual(['frozen', 6_000])
  })
})

describe('a run whose process dies', () => {
  const schedule = fc.record({
    plan: arbitraryPlan(1),
    /** How many writes of the store each process survives. */
    deaths: fc.array(fc.nat(12), { maxLength: 12 }),
    failing: fc.constantFrom(0, 0, 0, 5),
    repeatable: fc.boolean(),
  })

  it('does nothing twice that is not repeatable, loses nothing, and ends as one that lived', async () => {
    await fc.assert(
      fc.asyncProperty(schedule, async ({ plan, deaths, failing, repeatable }) => {
        const store = createMemoryRunStore()
        const fate = (path: string): boolean => failing > 0 && path.length % failing === 0
        const world = new World(
          (path) => (fate(path) ? TRANSIENT : path),
          () => repeatable,
        )
        let state: RunState | undefined
        for (const writes of [...deaths, Number.POSITIVE_INFINITY]) {
          try {
            state = (await goOn(dying(store, writes), definePlan(plan).plan, world, [1, 2])).state
          } catch (error) {
            if (!hasDied(error)) throw error
          }
        }
        expect(ENDED.has(state?.status ?? 'proposed')).toBe(true)
        if (failing === 0) expect(state?.status).toBe('completed')
        if (!repeatable) expect(world.effects).toEqual([...new Set(world.effects)])
        // One that lived has the same end.
        const lived = await run(plan, new World(world.answer, world.repeatable), [1, 2])
        expect(state?.status).toBe(lived.state.status)
      }),
      { numRuns: 60 },
    )
  })
})

function hasDied(error: unknown): boolean {
  return error instanceof Error && (error.message === 'died' || hasDied(error.cause))
}

/** A store that dies after so many writes: the last one is there, and its process does not hear of it, or is not. */
function dying(store: RunStore, writes: number): RunStore {
  let left = writes
  const die = (): never => {
    throw new Error('died')
  }
  return {
    putBlob: (id, bytes) => store.putBlob(id, bytes),
    getBlob: (id) => store.getBlob(id),
    head: (name) => store.head(name),
    setHead: (name, head, lease) => store.setHead(name, head, lease),
    entries: (name, from, most) => store.entries(name, from, most),
    append: async (name, at, entries, lease) => {
      if (left < 0) die()
      left -= 1
      if (left >= 0 || writes % 2 === 0) await store.append(name, at, entries, lease)
      if (left < 0) die()
    },
    lease: (name, ttlMs) => store.lease(name, ttlMs),
    runs: () => store.runs(),
    remove: (name, lease) => store.remove(name, lease),
    collect: (options) => store.collect(options),
    close: () => store.close(),
  }
}
