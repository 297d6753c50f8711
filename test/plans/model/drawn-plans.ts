/** Plans of all kinds of nodes over the tools of the world, with retries, rights that ask for people, and budgets. */
import fc from 'fast-check'
import type { Plan, PlanNode, Scope } from '../../../src/graph/plan/plan.ts'
import { arbitraryPlan } from '../../../src/graph/run/arbitrary-plan.testkit.ts'

const TOOLS = ['world.read', 'world.put', 'world.once'] as const

export interface DrawnPlan {
  readonly plan: Plan
  /** One call of so many fails. */
  readonly failing: number
}

export function drawnPlan(): fc.Arbitrary<DrawnPlan> {
  return fc.record({
    plan: fc
      .record({
        plan: arbitraryPlan(1),
        asks: fc.constantFrom(false, false, true),
        budget: fc.constantFrom(undefined, undefined, { steps: 6 }, { calls: 3 }, { steps: 12, calls: 5 }),
        retry: fc.boolean(),
        shift: fc.nat(2),
      })
      .map(({ plan, asks, budget, retry, shift }) => dressed(plan, { asks, budget, retry, shift })),
    failing: fc.constantFrom(0, 0, 4),
  })
}

interface Dress {
  readonly asks: boolean
  readonly budget: Plan['budget']
  readonly retry: boolean
  readonly shift: number
}

function dressed(plan: Plan, dress: Dress): Plan {
  const grants = TOOLS.map((capability) => ({
    capability,
    ...(dress.asks && capability === 'world.once' && { approve: true }),
  }))
  return { ...plan, grants, ...(dress.budget && { budget: dress.budget }), ...scopeOf(plan, dress) }
}

function scopeOf({ nodes }: Scope, dress: Dress): Scope {
  return {
    nodes: Object.fromEntries(
      Object.entries(nodes).map(([id, node], i) => [id, nodeOf(node, i + dress.shift, dress)]),
    ),
  }
}

function nodeOf(node: PlanNode, i: number, dress: Dress): PlanNode {
  const capability = TOOLS[i % TOOLS.length] as string
  switch (node.kind) {
    case 'call':
    case 'program': {
      const compensate = node.compensate?.kind === 'call' ? { ...node.compensate, capability } : undefined
      const { compensate: _, ...rest } = node
      return {
        ...rest,
        ...(rest.kind === 'call' && { capability }),
        ...(compensate && { compensate }),
        ...(dress.retry && { retry: { attempts: 2, on: ['transient'], delayMs: 1, mostDelayMs: 2 } }),
      } as PlanNode
    }
    case 'each':
    case 'loop':
      return { ...node, do: scopeOf(node.do, dress) }
    case 'plan':
      return { ...node, plan: { ...node.plan, ...dressed(node.plan, { ...dress, budget: undefined }) } }
    default:
      return node
  }
}
