/** Plans that somebody wrote to harm who checks, shows or compares them. */
import { describe, expect, it } from 'vitest'
import { definePlan, readPlan } from '../../src/graph/plan/define-plan.ts'
import { diffPlans } from '../../src/graph/plan/diff-plan.ts'
import { parsePlan } from '../../src/graph/plan/parse-plan.ts'
import type { Plan, PlanNode, Scope } from '../../src/graph/plan/plan.ts'
import { planMermaid } from '../../src/graph/render/plan-mermaid.ts'
import { planSvg } from '../../src/graph/render/plan-svg.ts'

const HEAD = { format: 'plan/1', name: 'hostile', version: '1' } as const
const wait: PlanNode = { kind: 'wait', forMs: 1 }
const planOf = (nodes: Readonly<Record<string, unknown>>, more: object = {}): Plan =>
  ({ ...HEAD, nodes, ...more }) as unknown as Plan
const many = (count: number, node: (i: number) => PlanNode): Record<string, PlanNode> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${i}`, node(i)]))
const problemsOf = (plan: unknown): string =>
  (readPlan(plan).problems?.found ?? []).map(({ at, problem }) => `${at}: ${problem}`).join('\n')

/** CPU time of this process, milliseconds: other work on the machine does not count. */
function costOf(work: () => void): number {
  const begun = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(begun)
  return (user + system) / 1_000
}

describe('names that every object has', () => {
  const NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf']

  it.each(NAMES)('%s is no id of a node', (name) => {
    expect(problemsOf(planOf(Object.fromEntries([[name, wait]])))).toMatch(/no id of a node/)
  })

  it.each(NAMES)('%s is no node that can be referred to, waited for or chosen', (name) => {
    const nodes = {
      a: { ...wait, after: [name] },
      b: { kind: 'choice', cases: [{ when: true, take: [name] }] },
    }
    const problems = problemsOf(planOf(nodes))
    const refers = planOf({ a: { kind: 'wait', until: { $from: `${name}/x` } } })
    expect(problemsOf(refers)).toMatch(/\/nodes\/a\/until\/\$from: there is no node/)
    expect(problems).toMatch(/\/nodes\/a\/after\/0/)
    expect(problems).toMatch(/\/nodes\/b\/cases\/0\/take\/0/)
  })

  it.each(NAMES)('%s is no kind, no capability, no member of a plan', (name) => {
    expect(problemsOf(planOf({ a: { kind: name } }))).toMatch(/\/nodes\/a\/kind: must be/)
    expect(problemsOf(planOf({ a: wait }, { grants: [name] }))).toMatch(/\/grants\/0/)
    expect(problemsOf(planOf({ a: wait }, Object.fromEntries([[name, 1]])))).toMatch(/is not known here/)
  })

  it('are data where data is, and change no prototype', () => {
    const input = JSON.parse(
      '{ "__proto__": { "polluted": true }, "constructor": { "prototype": 1 } }',
    ) as object
    const { plan } = definePlan(planOf({ a: { kind: 'program', source: '1', input } }))
    const kept = plan.nodes.a as { input: object }
    expect(JSON.stringify(kept.input)).toBe(JSON.stringify(input))
    expect(Object.getPrototypeOf(kept.input)).toBe(Object.prototype)
    expect(({} as { polluted?: true }).polluted).toBeUndefined()
    const named = {
      a: { kind: 'wait', until: { $eval: 'x', with: JSON.parse('{ "__proto__": 1 }') as object } },
    }
    expect(problemsOf(planOf(named))).toMatch(/is no name of a value/)
  })

  it('are read from a text as what they are', async () => {
    const text = `format: plan/1\nname: a\nversion: "1"\nnodes:\n  __proto__: { kind: wait, forMs: 1 }\n`
    await expect(parsePlan(text)).rejects.toThrow(/line 5, column 3 .*no id of a node/)
  })
})

describe('a plan without measure', () => {
  it('of ten thousand nodes and more is refused', () => {
    const inner = (): Scope => ({ nodes: many(1_000, () => wait) })
    const nodes = many(10, () => ({ kind: 'each', over: [], most: 1, do: inner() }))
    expect(problemsOf(planOf(nodes))).toMatch(/more than 10000 nodes/)
  })

  it('of scopes in scopes without end is refused', () => {
    let scope: Scope = { nodes: { a: wait } }
    for (let i = 0; i < 17; i += 1) scope = { nodes: { a: { kind: 'each', over: [], most: 1, do: scope } } }
    expect(problemsOf(planOf(scope.nodes))).toMatch(/nested more than 16 deep/)
  })

  it('that doubles at every step is refused by what it is as a tree', () => {
    let scope: Scope = { nodes: { a: wait } }
    for (let i = 0; i < 14; i += 1) {
      const node: PlanNode = { kind: 'each', over: [], most: 1, do: scope }
      scope = { nodes: { a: node, b: node, c: node } }
    }
    const cost = costOf(() => expect(problemsOf(planOf(scope.nodes))).toMatch(/more than 200000 values/))
    expect(cost).toBeLessThan(10_000)
  })

  it('of as many edges as it may have costs seconds at most to check, compare and draw', () => {
    const ids = Array.from({ length: 300 }, (_, i) => `n${i}`)
    const all = planOf(many(300, (i) => ({ ...wait, after: ids.slice(0, i) })))
    const halves = planOf(many(300, (i) => (i < 150 ? wait : { ...wait, after: ids.slice(0, 150) })))
    const cost = costOf(() => {
      expect(readPlan(all).problems).toBeUndefined()
      expect(diffPlans(all, halves).length).toBeGreaterThan(50)
      expect(planSvg(halves).length).toBeLessThan(2_000_000)
      expect(planMermaid(all).length).toBeLessThan(10_000_000)
    })
    expect(cost).toBeLessThan(20_000)
  })

  it('that waits for itself on a long way is found to', () => {
    const nodes = many(1_000, (i) => ({ ...wait, after: [`n${(i + 1) % 1_000}`] }))
    expect(problemsOf(planOf(nodes))).toMatch(/waits for itself/)
  })
})
