import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { digestOf } from '../../base/digest.ts'
import { readPlan } from '../plan/define-plan.ts'
import type { Plan, PlanNode } from '../plan/plan.ts'
import { arbitraryPlan } from './arbitrary-plan.testkit.ts'
import type { RunEvent } from './run-event.ts'
import { RunState } from './run-state.ts'
import { type Fate, play } from './simulate.testkit.ts'

const call = (more: object = {}): PlanNode => ({ kind: 'call', capability: 'a.b', ...more }) as PlanNode

function planOf(nodes: Record<string, PlanNode>): Plan {
  return { format: 'plan/1', name: 'p', version: '1', grants: ['a.b'], nodes }
}

const DIGEST = digestOf(new Uint8Array(32))

function proposed(plan: Plan): RunState {
  const state = new RunState(plan)
  const input = { value: 1 }
  state.apply({ type: 'proposed', format: 'run/1', id: 'r', tools: {}, plan: DIGEST, input, by: 'x' })
  return state
}

/** Everything that can go on does, in order; nothing fails but what is named. */
function fateOf(draws: readonly number[] = [], failing = 0): Fate {
  let i = 0
  return { atOnce: 100, failing, draw: (below) => (draws[i++] ?? below - 1) % below }
}

function drawn(seed: fc.Stream<number> | Iterator<number>, failing: number, atOnce: number): Fate {
  return { atOnce, failing, draw: (below) => Number(seed.next().value ?? 0) % below }
}

function started(events: readonly RunEvent[]): string[] {
  return events.flatMap((event) => (event.type === 'node_started' && event.attempt === 1 ? [event.node] : []))
}

describe('a run', () => {
  it('starts a node when all before it have ended', () => {
    const { events, state } = play(
      planOf({ c: call({ after: ['b'] }), b: call({ input: { $from: 'a' } }), a: call() }),
      fateOf(),
    )
    expect(started(events)).toEqual(['a', 'b', 'c'])
    expect(state.status).toBe('completed')
  })

  it('runs the nodes of an each for every item', () => {
    const nodes = {
      list: {
        kind: 'each',
        over: [1, 2],
        most: 3,
        do: { nodes: { x: call(), y: call({ after: ['x'] }) } },
      } as PlanNode,
    }
    const { events, state } = play(planOf(nodes), fateOf([0, 2]))
    expect(started(events).sort()).toEqual(['list', 'list/0/x', 'list/0/y', 'list/1/x', 'list/1/y'])
    expect(state.node('list')?.items).toBe(2)
  })

  it('completes an each over nothing', () => {
    const nodes = { list: { kind: 'each', over: [], most: 3, do: { nodes: { x: call() } } } as PlanNode }
    const { events, state } = play(planOf(nodes), fateOf([0, 0]))
    expect(started(events)).toEqual(['list'])
    expect(state.status).toBe('completed')
  })

  it('refuses a node that may not begin yet', () => {
    const state = proposed(planOf({ a: call(), b: call({ after: ['a'] }) }))
    state.apply({ type: 'approved', request: DIGEST, by: 'x' })
    state.apply({ type: 'started', by: 'x', atMs: 0 })
    const event: RunEvent = { node: 'b', type: 'node_started', attempt: 1, input: { value: 1 } }
    expect(() => state.apply(event)).toThrow(/Node "b" cannot begin here/)
    expect(state.events).toBe(3)
  })

  it('never starts a rejected plan', () => {
    const state = proposed(planOf({ a: call() }))
    state.apply({ type: 'rejected', by: 'y', reason: 'no' })
    for (const event of [
      { type: 'approved', request: DIGEST, by: 'x' },
      { type: 'started', by: 'x', atMs: 0 },
      { node: 'a', type: 'node_started', attempt: 1, input: { value: 1 } },
    ] as RunEvent[])
      expect(() => state.apply(event)).toThrow(/rejected|cannot begin/)
  })
})

describe('any run of any plan', () => {
  const run = fc.record({
    plan: arbitraryPlan(),
    seed: fc.infiniteStream(fc.nat(1_000_000)),
    failing: fc.constantFrom(0, 0, 3, 8, 20),
    atOnce: fc.integer({ min: 1, max: 8 }),
  })

  it('is of a plan that the check accepts', () => {
    fc.assert(
      fc.property(arbitraryPlan(), (plan) => {
        expect(readPlan(plan).problems?.found).toBeUndefined()
      }),
      { numRuns: 100 },
    )
  })

  it('ends, with no node at work or left over', () => {
    fc.assert(
      fc.property(run, ({ plan, seed, failing, atOnce }) => {
        const { state } = play(plan, drawn(seed, failing, atOnce))
        expect(state.live.size).toBe(0)
        if (failing === 0) expect(state.status).toBe('completed')
        if (state.status === 'completed') {
          expect(state.root?.nodes.size).toBe(Object.keys(plan.nodes).length)
          expect(state.root?.open).toBe(0)
        }
      }),
      { numRuns: 80 },
    )
  })

  it('starts no node before what it waits for has ended, and none twice', () => {
    fc.assert(
      fc.property(run, ({ plan, seed, failing, atOnce }) => {
        const begun = new Set<string>()
        play(plan, drawn(seed, failing, atOnce), (state, event) => {
          if (event.type !== 'node_started' || event.attempt > 1) return
          expect(begun.has(event.node)).toBe(false)
          begun.add(event.node)
          const { scope, id } = state.node(event.node) as NonNullable<ReturnType<RunState['node']>>
          for (const before of scope.plan.before.get(id) ?? [])
            expect(['completed', 'failed', 'skipped']).toContain(scope.nodes.get(before)?.status)
          expect(scope.failed).toBeUndefined()
        })
      }),
      { numRuns: 80 },
    )
  })

  it('undoes what was done in reverse order, once', () => {
    fc.assert(
      fc.property(run, ({ plan, seed, atOnce }) => {
        const done: string[] = []
        const { state } = play(plan, drawn(seed, 4, atOnce), (now, event) => {
          if (event.type === 'node_completed' || event.type === 'node_recovered') {
            const { node } = now.node(event.node) as NonNullable<ReturnType<RunState['node']>>
            if ('compensate' in node && node.compensate !== undefined) done.push(event.node)
          }
          if (event.type === 'node_undoing') expect(done.pop()).toBe(event.node)
        })
        if (state.status === 'compensated') expect(done).toEqual([])
      }),
      { numRuns: 80 },
    )
  })

  it('is the fold of its events', () => {
    fc.assert(
      fc.property(run, ({ plan, seed, failing, atOnce }) => {
        const { events, state } = play(plan, drawn(seed, failing, atOnce))
        const again = new RunState(plan)
        for (const event of events) again.apply(event)
        const seen = (one: RunState): unknown => [
          one.status,
          one.events,
          [...one.nodes].map(({ path, status, attempt }) => [path, status, attempt]),
          [...one.ready.keys()],
        ]
        expect(seen(again)).toEqual(seen(state))
      }),
      { numRuns: 100 },
    )
  })
})
