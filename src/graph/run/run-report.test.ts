import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { definePlan } from '../plan/define-plan.ts'
import type { Plan, PlanNode } from '../plan/plan.ts'
import { arbitraryPlan } from './arbitrary-plan.testkit.ts'
import { findingsOf } from './findings.ts'
import type { Failure, RecordedEvent, RunEvent } from './run-event.ts'
import { reportOf } from './run-report.ts'
import { play } from './simulate.testkit.ts'

const DIGEST = `sha256:${'0'.repeat(64)}` as never
const NOTHING = { value: null }
const NO: Failure = { class: 'transient', code: 'network_failed', message: 'no' }
const call = (more: object = {}): PlanNode => ({ kind: 'call', capability: 'a.b', ...more }) as PlanNode

function planOf(nodes: Record<string, PlanNode>): Plan {
  return definePlan({ format: 'plan/1', name: 'p', version: '1', grants: ['a.b', 'c.d'], nodes }).plan
}

/** Events, each at its time. */
function journal(
  ...events: readonly (readonly [timeMs: number, event: RunEvent])[]
): readonly RecordedEvent[] {
  return [
    {
      type: 'proposed',
      format: 'run/1',
      id: 'r',
      tools: {},
      plan: DIGEST,
      input: NOTHING,
      by: 'x',
      timeMs: 0,
    },
    { type: 'approved', request: DIGEST, by: 'x', timeMs: 0 },
    { type: 'started', by: 'x', atMs: 0, timeMs: 0 },
    ...events.map(([timeMs, event]) => ({ ...event, timeMs })),
  ]
}

const started = (node: string, attempt = 1): RunEvent => ({
  node,
  type: 'node_started',
  attempt,
  input: NOTHING,
})
const called = (node: string, id: number): RunEvent => ({
  node,
  type: 'node_called',
  call: id,
  key: `k${id}`,
  repeatable: true,
})
const answered = (node: string, id: number, value: unknown): RunEvent => ({
  node,
  type: 'node_answered',
  call: id,
  answer: { ok: true, value: { value } },
})

describe('the report of a run', () => {
  const plan = planOf({
    a: call(),
    b: call({ fallback: [{ value: 1 }] }),
    p: { kind: 'program', source: '1' },
  })

  it('has times, failures, retries and fallbacks by node and by capability', () => {
    const report = reportOf(
      plan,
      journal(
        [10, started('a')],
        [12, called('a', 1)],
        [20, { node: 'a', type: 'node_answered', call: 1, answer: { ok: false, error: NO } }],
        [20, { node: 'a', type: 'node_retrying', atMs: 30, error: NO }],
        [30, started('a', 2)],
        [30, called('a', 2)],
        [34, answered('a', 2, 7)],
        [34, { node: 'a', type: 'node_completed', output: { value: 7 } }],
        [40, started('b')],
        [41, { node: 'b', type: 'node_recovered', error: NO, fallback: 0, output: NOTHING }],
        [50, started('p')],
        [
          90,
          {
            node: 'p',
            type: 'node_completed',
            output: NOTHING,
            used: { fuel: 5, calls: 3, by: { 'c.d': { calls: 3, bytesIn: 9 } } },
          },
        ],
        [90, { type: 'completed', output: NOTHING }],
      ),
    )
    expect(report).toMatchObject({
      status: 'completed',
      tookMs: 90,
      failures: { transient: { network_failed: 2 } },
      retries: 1,
      fallbacks: 1,
      used: { fuel: 5, calls: 5, steps: 4 },
    })
    expect(report.kinds).toEqual([
      {
        kind: 'program',
        begun: 1,
        completed: 1,
        failed: 0,
        latency: { count: 1, medianMs: 40, p95Ms: 40, mostMs: 40 },
      },
      {
        kind: 'call',
        begun: 2,
        completed: 2,
        failed: 0,
        latency: { count: 2, medianMs: 1, p95Ms: 24, mostMs: 24 },
      },
    ])
    expect(report.nodes).toEqual([
      {
        node: 'a',
        begun: 1,
        completed: 1,
        failed: 0,
        retries: 1,
        failures: { transient: { network_failed: 1 } },
        latency: { count: 1, medianMs: 24, p95Ms: 24, mostMs: 24 },
      },
      {
        node: 'b',
        begun: 1,
        completed: 1,
        failed: 0,
        retries: 0,
        failures: { transient: { network_failed: 1 } },
        latency: { count: 1, medianMs: 1, p95Ms: 1, mostMs: 1 },
      },
      {
        node: 'p',
        begun: 1,
        completed: 1,
        failed: 0,
        retries: 0,
        failures: {},
        latency: { count: 1, medianMs: 40, p95Ms: 40, mostMs: 40 },
      },
    ])
    expect(report.capabilities).toEqual([
      {
        capability: 'a.b',
        calls: 2,
        failed: 1,
        failures: { transient: { network_failed: 1 } },
        used: {},
        latency: { count: 2, medianMs: 4, p95Ms: 8, mostMs: 8 },
      },
      {
        capability: 'c.d',
        calls: 3,
        failed: 0,
        failures: {},
        used: { calls: 3, bytesIn: 9 },
        latency: { count: 0, medianMs: 0, p95Ms: 0, mostMs: 0 },
      },
    ])
  })

  it('has how long people were waited for', () => {
    const asking = planOf({ ok: { kind: 'approval', question: 'Well?' } })
    const waiting = { for: 'person', asked: [{ request: DIGEST, shown: NOTHING }] } as const
    const report = reportOf(
      asking,
      journal(
        [1, started('ok')],
        [2, { node: 'ok', type: 'node_waiting', waiting }],
        [86_400_002, { node: 'ok', type: 'node_decided', request: DIGEST, by: 'ann', approved: true }],
      ),
    )
    expect(report.approvals).toEqual({
      asked: 1,
      approved: 1,
      rejected: 0,
      waited: { count: 1, medianMs: 86_400_000, p95Ms: 86_400_000, mostMs: 86_400_000 },
    })
  })

  it('is there for every journal, wherever it ends, and counts what is in it (property)', () => {
    fc.assert(
      fc.property(arbitraryPlan(1), fc.infiniteStream(fc.nat(1_000)), fc.nat(100), (drawn, draws, cut) => {
        const checked = definePlan(drawn).plan
        const draw = (below: number): number => Number(draws.next().value) % below
        const { events } = play(checked, { draw, atOnce: 3, failing: 4 })
        const recorded = events.map((event, i) => ({ ...event, timeMs: i }))
        const some = recorded.slice(0, Math.ceil((recorded.length * cut) / 100))
        const report = reportOf(checked, some)
        const count = (type: string): number => some.filter((event) => event.type === type).length
        const begun = report.kinds.reduce((sum, kind) => sum + kind.begun, 0)
        expect(begun + report.retries).toBe(count('node_started'))
        expect(report.findings.filter(({ kind }) => kind === 'out_of_order')).toEqual([])
        expect(reportOf(checked, some)).toEqual(report)
      }),
      { numRuns: 40 },
    )
  })
})

describe('what somebody should look at', () => {
  const plan = planOf({ a: call(), b: call() })
  const kinds = (...events: readonly (readonly [number, RunEvent])[]): readonly string[] =>
    findingsOf(plan, journal(...events)).map(({ kind, node, at }) => `${kind} ${node} ${at}`)

  it('is an output that is not what the call is recorded to have given', () => {
    const end = (value: unknown): readonly [number, RunEvent] => [
      5,
      { node: 'a', type: 'node_completed', output: { value } },
    ]
    const begun = [
      [1, started('a')],
      [2, called('a', 1)],
    ] as const
    expect(kinds(...begun, [4, answered('a', 1, { price: 1 })], end({ price: 1 }))).toEqual([])
    expect(kinds(...begun, [4, answered('a', 1, { price: 1 })], end({ price: 2 }))).toEqual([
      'output_differs a 6',
    ])
    expect(kinds(...begun, end(1))).toEqual(['output_differs a 5'])
    expect(kinds([1, started('a')], end(1))).toEqual(['output_differs a 4'])
  })

  it('is what happened out of order', () => {
    expect(kinds([1, answered('a', 1, 1)])).toEqual(['out_of_order a 3'])
    expect(kinds([1, started('a')], [2, answered('a', 1, 1)])).toEqual(['out_of_order a 4'])
    expect(
      kinds([1, started('a')], [2, called('a', 1)], [3, answered('a', 1, 1)], [4, answered('a', 1, 2)]),
    ).toEqual(['out_of_order a 6'])
  })

  it('is arguments outside the schema, many attempts, loops and budgets', () => {
    const wrong: Failure = { class: 'invalid', code: 'invalid_arguments', message: 'sku: not a text' }
    expect(
      kinds(
        [1, started('a')],
        [2, { node: 'a', type: 'node_retrying', atMs: 1, error: NO }],
        [3, started('a', 2)],
        [4, { node: 'a', type: 'node_retrying', atMs: 1, error: NO }],
        [5, started('a', 3)],
        [6, { type: 'frozen', reason: 'loop_guard', message: 'The same.' }],
        [7, { type: 'confirmed', point: DIGEST, by: 'x' }],
        [8, { node: 'a', type: 'node_failed', error: wrong }],
      ),
    ).toEqual(['many_attempts a 7', 'loop  8', 'arguments_outside_schema a 10'])
  })
})
