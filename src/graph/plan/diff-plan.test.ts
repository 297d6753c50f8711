import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arbitraryPlan } from '../run/arbitrary-plan.testkit.ts'
import { definePlan } from './define-plan.ts'
import { diffPlans, needsApproval } from './diff-plan.ts'
import type { Plan, PlanNode } from './plan.ts'

const PLAN = {
  format: 'plan/1',
  name: 'prices',
  version: '1',
  grants: [
    'sql.query',
    { capability: 'net.fetch', calls: 10, only: { '/url': [{ prefix: 'https://a.test/' }] } },
  ],
  budget: { fuel: 1_000, units: { cents: 5 } },
  nodes: {
    query: { kind: 'call', capability: 'sql.query', input: { text: 'select 1' } },
    enrich: {
      kind: 'program',
      source: 'const a = 1\nreturn a',
      input: { $from: 'query' },
      grants: ['net.fetch'],
    },
    ask: { kind: 'approval', question: 'Well?', after: ['enrich', 'query'] },
    all: { kind: 'each', over: [], most: 5, do: { nodes: { one: { kind: 'wait', forMs: 1 } } } },
  },
} as const satisfies Plan

interface Members {
  [key: string]: Members
}

/** What changes in words, after an edit of a copy. */
function changesOf(edit: (plan: Members) => unknown): string[] {
  const copy = structuredClone(PLAN) as unknown as Members
  edit(copy)
  const changes = diffPlans(PLAN, definePlan(copy as unknown as Plan).plan)
  return changes.map(({ of, effect, at, words }) => `${of} ${effect} ${at} ${words}`)
}
const set = (value: unknown): Members => value as Members

describe('a guard', () => {
  it('that lets a run repeat itself more often needs a new approval', () => {
    const plan = (guard?: object): Plan =>
      ({
        format: 'plan/1',
        name: 'p',
        version: '1',
        nodes: { a: { kind: 'wait', forMs: 1 } },
        ...(guard && { guard }),
      }) as Plan
    const changes = diffPlans(plan(), plan({ identicalCalls: 500, alternations: 3 }))
    expect(changes.map(({ effect, at }) => [effect, at])).toEqual([
      ['widened', '/guard/identicalCalls'],
      ['narrowed', '/guard/alternations'],
    ])
    expect(needsApproval(changes)).toBe(true)
  })
})

describe('a difference of plans', () => {
  it('is none between equal plans', () => {
    expect(changesOf(() => {})).toEqual([])
  })

  it('tells rights in words, whether there are more or less of them', () => {
    expect(changesOf(({ grants }) => (grants as unknown as string[]).push('kv.get'))).toEqual([
      'authority widened /grants/2 the plan may call kv.get',
    ])
    const fetches = (plan: Members): Members => plan.grants?.['1'] as Members
    expect(changesOf((plan) => delete fetches(plan).only)).toEqual([
      'authority widened /grants/1 the plan may call net.fetch without such a condition, and before under {"only":{"/url":[{"prefix":"https://a.test/"}]}}',
    ])
    expect(changesOf((plan) => Object.assign(fetches(plan), { calls: 9 }))[0]).toMatch(/^authority narrowed/)
    expect(changesOf((plan) => Object.assign(fetches(plan), { calls: 11 }))[0]).toMatch(/^authority widened/)
    expect(changesOf((plan) => Object.assign(fetches(plan), { calls: 11, approve: true }))[0]).toMatch(
      /^authority changed .*under \{"calls":11,"approve":true\}, and before under \{"calls":10\}/,
    )
    expect(changesOf((plan) => delete plan.nodes?.enrich?.grants)).toEqual([
      'authority narrowed /nodes/enrich/grants node "enrich" may call net.fetch no more',
    ])
  })

  it('tells budgets, also those that have the name of something that every object has', () => {
    expect(changesOf((plan) => Object.assign(plan.budget as object, { fuel: 2_000, calls: 1 }))).toEqual([
      'budget widened /budget/fuel the budget for fuel of the plan is 2000, and was 1000',
      'budget narrowed /budget/calls the budget for calls of the plan is 1, and was that of what is around it',
    ])
    expect(
      changesOf((plan) => Object.assign(plan.budget?.units as object, { constructor: 1, cents: 4 })).sort(),
    ).toEqual([
      'budget narrowed /budget/units/cents the budget for "cents" of the plan is 4, and was 5',
      'budget narrowed /budget/units/constructor the budget for "constructor" of the plan is 1, and was that of what is around it',
    ])
  })

  it('tells nodes: what is gone may have kept something back', () => {
    const gone = changesOf((plan) => delete plan.nodes?.ask)
    expect(gone).toEqual(['node changed /nodes/ask node "ask" (approval) is gone'])
    expect(
      changesOf((plan) => Object.assign(plan.nodes as object, { more: { kind: 'wait', forMs: 1 } })),
    ).toEqual(['node widened /nodes/more node "more" (wait) is new'])
  })

  it('tells where in a node something is another, and how texts differ', () => {
    expect(
      changesOf((plan) => Object.assign(plan.nodes?.enrich as object, { source: 'const a = 2\nreturn a' })),
    ).toEqual([
      'node changed /nodes/enrich/source source of node "enrich" is another text: from line 1 on, "const a = 2" for "const a = 1" (2 lines before, 2 now)',
    ])
    expect(
      changesOf((plan) => Object.assign(plan.nodes?.query?.input as object, { text: 'select 2' })),
    ).toEqual([
      'node changed /nodes/query/input/text input/text of node "query" is "select 2", and was "select 1"',
    ])
    expect(changesOf((plan) => delete plan.nodes?.query?.input)).toEqual([
      'node changed /nodes/query/input node "query" has no input any more, which was {"text":"select 1"}',
    ])
  })

  it('tells edges and kinds, also inside of others', () => {
    expect(changesOf((plan) => Object.assign(plan.nodes?.all as object, { after: ['ask'] }))).toEqual([
      'edge changed /nodes/all node "all" waits for ask now',
    ])
    const inner = (plan: Members): Members => plan.nodes?.all?.do?.nodes as Members
    expect(
      changesOf((plan) => Object.assign(inner(plan), { one: set({ kind: 'wait', event: 'x' }) })).map(
        (line) => line.split(' ').slice(0, 3).join(' '),
      ),
    ).toEqual(['node changed /nodes/all/do/nodes/one/forMs', 'node changed /nodes/all/do/nodes/one/event'])
  })

  it('says of words that they are words, and of what means the same that it does', () => {
    expect(changesOf((plan) => Object.assign(plan, { version: '2' }))).toEqual([
      'text same /version the version of the plan is "2", and was "1"',
    ])
    expect(
      changesOf(({ nodes }) => Object.assign(nodes?.ask as object, { after: ['query', 'enrich'] })),
    ).toEqual(['text same /nodes/ask node "ask" is written in another way, and means the same'])
    expect(changesOf((plan) => (plan.grants as unknown as string[]).reverse())).toEqual([
      'text same  the plan is written in another way, and means the same',
    ])
  })

  it('needs a new approval unless it is words, or less', () => {
    const needed = (edit: (plan: Members) => unknown): boolean => {
      const copy = structuredClone(PLAN) as unknown as Members
      edit(copy)
      return needsApproval(diffPlans(PLAN, copy as unknown as Plan))
    }
    expect(
      needed((plan) => Object.assign(plan, { version: '2', budget: { fuel: 1, units: { cents: 5 } } })),
    ).toBe(false)
    expect(needed((plan) => delete plan.budget)).toBe(true)
    expect(needed((plan) => delete plan.nodes?.ask)).toBe(true)
    expect(needed((plan) => Object.assign(plan.nodes?.query?.input as object, { text: 'drop table' }))).toBe(
      true,
    )
  })

  it('is found whenever digests differ', () => {
    const edited = fc.record({
      plan: arbitraryPlan(1),
      other: arbitraryPlan(1),
      pick: fc.nat(),
      how: fc.nat(7),
    })
    fc.assert(
      fc.property(edited, ({ plan, other, pick, how }) => {
        const after = editPlan(plan, pick, how)
        for (const [a, b] of [
          [plan, after],
          [plan, other],
        ] as const) {
          const differ = definePlan(a).digest !== definePlan(b).digest
          expect(diffPlans(a, b).length > 0).toBe(differ)
        }
      }),
      { numRuns: 60 },
    )
  })
})

/** The plan with one node of it changed in one way, where that leaves it valid. */
function editPlan(plan: Plan, pick: number, how: number): Plan {
  const ids = Object.keys(plan.nodes)
  const id = ids[pick % ids.length] as string
  const node = plan.nodes[id] as PlanNode
  const edits: readonly object[] = [
    { after: [...(node.after ?? [])].reverse() },
    { after: [...(node.after ?? []), ...(node.after ?? [])] },
    { title: 'other' },
    { budget: {} },
    { budget: { units: { constructor: 1 } } },
    { when: { $eval: 'other' } },
    { join: 'any' },
    {},
  ]
  return { ...plan, nodes: { ...plan.nodes, [id]: { ...node, ...edits[how] } as PlanNode } }
}
