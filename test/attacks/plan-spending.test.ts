/** Plans and stores that try to give a run more than it was given. */
import { describe, expect, it } from 'vitest'
import { readPlan } from '../../src/graph/plan/define-plan.ts'
import { parseRunEvent } from '../../src/graph/run/parse-run-event.ts'

const HEAD = { format: 'plan/1', name: 'hostile', version: '1' }
const wait = { kind: 'wait', forMs: 1 }
const problemsOf = (plan: object): string =>
  (readPlan({ ...HEAD, nodes: { a: wait }, ...plan }).problems?.found ?? [])
    .map(({ at, problem }) => `${at}: ${problem}`)
    .join('\n')

describe('a plan that gives itself more', () => {
  it.each([-1, -0.5, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60, '5', null])(
    'has no budget of %s',
    (most) => {
      expect(problemsOf({ budget: { calls: most } })).toMatch(/\/budget\/calls/)
      expect(problemsOf({ grants: [{ capability: 'a.b', calls: most }] })).toMatch(/\/grants\/0\/calls/)
    },
  )

  it.each([-1, 0, 1, 2.5, 1e9, '5'])('has no threshold of its guard of %s', (most) => {
    expect(problemsOf({ guard: { identicalCalls: most } })).toMatch(/\/guard\/identicalCalls/)
  })

  it('has no budget, right or guard inside that is more than what is around it', () => {
    const grants = [{ capability: 'a.b', calls: 2, budgets: { cents: 1 } }]
    const inside = { ...HEAD, nodes: { a: wait }, budget: { calls: 9, units: { cents: 5 } } }
    const more = [{ capability: 'a.b', calls: 3, budgets: { cents: 2 } }]
    const plan = { ...inside, grants: more, guard: { identicalCalls: 1_000 } }
    const problems = problemsOf({
      grants,
      budget: { calls: 8, units: { cents: 4 } },
      nodes: { p: { kind: 'plan', plan } },
    })
    expect(problems).toMatch(/\/nodes\/p\/plan\/grants\/0: calls is 3/)
    expect(problems).toMatch(/the budget for "cents" is 2/)
    expect(problems).toMatch(/\/nodes\/p\/plan\/budget\/calls: is 9/)
    expect(problems).toMatch(/\/nodes\/p\/plan\/budget\/units\/cents: is 5/)
    expect(problems).toMatch(/\/nodes\/p\/plan\/guard: only the outermost plan has a guard/)
  })
})

describe('a journal that gives something back', () => {
  const event = (used: object): object => ({
    type: 'node_completed',
    node: 'a',
    output: { value: 1 },
    timeMs: 1,
    used,
  })

  it.each([
    { calls: -1 },
    { fuel: Number.NaN },
    { units: { cents: -4 } },
    { by: { 'a.b': { calls: -1 } } },
    { by: { 'a.b': { units: { cents: -1 } } } },
  ])('with %j is refused as damaged', (used) => {
    expect(() => parseRunEvent(event(used), 3)).toThrow(expect.objectContaining({ code: 'corrupted' }))
  })

  it('with more used is read', () => {
    expect(parseRunEvent(event({ calls: 1, by: { 'a.b': { calls: 1 } } }), 3)).toBeDefined()
  })
})
