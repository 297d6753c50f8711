/** Plans of all kinds of nodes, drawn: every one of them is valid. */
import fc from 'fast-check'
import { definePlan } from '../plan/define-plan.ts'
import type { Plan, PlanNode, Scope, Template } from '../plan/plan.ts'

/** @param depth of scopes inside of scopes */
export function arbitraryPlan(depth = 2): fc.Arbitrary<Plan> {
  return arbitraryScope(depth)
    .map((scope) => ({
      format: 'plan/1' as const,
      name: 'drawn',
      version: '1',
      grants: ['a.b'],
      ...scope,
    }))
    .filter(isRight)
}

/** A few wait for themselves, through what stands in for what they come after. */
function isRight(plan: Plan): boolean {
  try {
    definePlan(plan)
    return true
  } catch (error) {
    if (error instanceof Error && /waits for itself/.test(error.message)) return false
    throw error
  }
}

interface Drawn {
  readonly kind: 'call' | 'program' | 'choice' | 'each' | 'loop' | 'plan' | 'wait' | 'approval'
  readonly before: readonly number[]
  readonly refers: boolean
  readonly when: boolean
  readonly any: boolean
  readonly undone: boolean
  readonly fallback: number
  readonly inner: Scope | undefined
}

function arbitraryScope(depth: number): fc.Arbitrary<Scope> {
  const kinds = ['call', 'program', 'choice', 'wait', 'approval'] as const
  const holding = ['each', 'loop', 'plan'] as const
  const inner: fc.Arbitrary<Scope | undefined> =
    depth > 0 ? arbitraryScope(depth - 1) : fc.constant(undefined)
  const node: fc.Arbitrary<Drawn> = fc.record({
    kind: depth > 0 ? fc.constantFrom(...kinds, ...holding) : fc.constantFrom(...kinds),
    before: fc.array(fc.nat(5), { maxLength: 3 }),
    refers: fc.boolean(),
    when: fc.boolean(),
    any: fc.boolean(),
    undone: fc.boolean(),
    fallback: fc.nat(3),
    inner,
  })
  return fc.array(node, { minLength: 1, maxLength: 6 }).map(scopeOf)
}

function scopeOf(drawn: readonly Drawn[]): Scope {
  const nodes: Record<string, PlanNode> = {}
  const decided = new Set<number>()
  /** A later node that nobody decides over yet. */
  const take = (from: number): string[] => {
    const next = drawn.findIndex((_, i) => i > from && !decided.has(i))
    if (next < 0) return []
    decided.add(next)
    return [`n${next}`]
  }
  for (const [i, one] of drawn.entries()) {
    const before = [...new Set(one.before.filter((other) => other < i))].map((other) => `n${other}`)
    const common = {
      ...(one.refers ? {} : { after: before }),
      ...(one.when && { when: { $eval: 'true' } }),
      ...(one.any && { join: 'any' as const }),
    }
    const input: Template = one.refers ? before.map((id) => ({ $from: `${id}/x` })) : null
    nodes[`n${i}`] = nodeOf(one, i, common, input, take)
  }
  return { nodes }
}

function nodeOf(
  { kind, undone, fallback, inner }: Drawn,
  i: number,
  common: object,
  input: Template,
  take: (from: number) => string[],
): PlanNode {
  switch (kind) {
    case 'call':
    case 'program': {
      const [standby] = fallback === 1 ? take(i) : []
      return {
        ...(kind === 'call' ? { kind, capability: 'a.b' } : { kind, source: 'return 1' }),
        ...common,
        input,
        ...(undone && { compensate: { kind: 'call', capability: 'a.b', input: { $from: 'output' } } }),
        ...(standby !== undefined && { fallback: [{ node: standby }] }),
        ...(fallback === 2 && { fallback: [{ value: 1 }] }),
      }
    }
    case 'choice': {
      const chosen = take(i)
      if (chosen.length === 0) return { kind: 'wait', forMs: 1, ...common }
      return { kind, ...common, cases: [{ when: input, take: chosen }], otherwise: take(i) }
    }
    case 'wait':
      return { kind, forMs: 1, ...common }
    case 'approval':
      return { kind, question: 'Well?', show: input, ...common }
    case 'each':
      return { kind, over: [input, 1], most: 5, concurrency: 1 + (i % 3), do: inner as Scope, ...common }
    case 'loop':
      return { kind, state: input, until: true, most: 3, do: inner as Scope, ...common }
    case 'plan': {
      const plan: Plan = {
        format: 'plan/1',
        name: 'inner',
        version: '1',
        grants: ['a.b'],
        ...(inner as Scope),
      }
      return { kind, plan, input, ...common }
    }
  }
}
