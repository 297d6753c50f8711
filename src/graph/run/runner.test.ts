import { describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../../host-bindings/store/memory-run-store.ts'
import { definePlan } from '../plan/define-plan.ts'
import type { Plan, PlanNode } from '../plan/plan.ts'
import type { EvaluateExpression } from './evaluate.ts'
import type { Failure } from './run-event.ts'
import { call, goOn, planOf, run, TRANSIENT, World } from './runner.testkit.ts'

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
