import { describe, expect, it } from 'vitest'
import { argumentProblem, grantProblems, isWithin } from './authority.ts'
import { budgetProblems, budgetWithin } from './budget-share.ts'
import type { PlanGrantRule } from './plan.ts'

const rule = (conditions: Omit<PlanGrantRule, 'capability'>): PlanGrantRule => ({
  capability: 'a.b',
  ...conditions,
})

describe('grants of a node', () => {
  const around = [rule({ calls: 5, budgets: { cents: 3 }, approve: true }), 'c.d']
  const cases: readonly [what: string, grant: PlanGrantRule | string, expected: RegExp | undefined][] = [
    ['may be the same', rule({ calls: 5, budgets: { cents: 3 }, approve: true }), undefined],
    ['may leave conditions out: those of the plan hold', 'a.b', undefined],
    ['may be less', rule({ calls: 4 }), undefined],
    ['may not be more calls', rule({ calls: 6 }), /calls is 6, and the plan around it has 5/],
    ['may not be more of a unit', rule({ budgets: { cents: 4 } }), /budget for "cents" is 4/],
    ['may name a unit like a member of every object', rule({ budgets: { constructor: 4 } }), undefined],
    ['may not do without the person', rule({ approve: false }), /asks a person about every call/],
    ['may not be others', 'c.e', /"c.e" is not among the grants of the plan \(did you mean "c.d"/],
  ]
  it.each(cases)('%s', (_, grant, expected) => {
    const problems = grantProblems([grant], around).map(({ problem }) => problem)
    if (expected === undefined) expect(problems).toEqual([])
    else expect(problems.join()).toMatch(expected)
  })

  it('cannot be of what no capability may be called', () => {
    for (const name of ['constructor', 'prices.then', 'process.exit'])
      expect(grantProblems([name], undefined)[0]?.problem).toMatch(/is no name of a capability/)
  })
})

describe('a rule within another', () => {
  const only = (...rules: readonly (string | object | number | null)[]): PlanGrantRule =>
    rule({ only: { '/x': rules as never } })
  it('has every condition of it, at least as strict', () => {
    expect(isWithin(rule({ calls: 1 }), rule({}))).toBe(true)
    expect(isWithin(rule({}), rule({ calls: 1 }))).toBe(false)
    expect(isWithin(rule({ calls: 2 }), rule({ calls: 1 }))).toBe(false)
    expect(isWithin(rule({}), rule({ approve: true }))).toBe(false)
    expect(isWithin(rule({ budgets: { a: 1 } }), rule({ budgets: { a: 2 } }))).toBe(true)
    expect(isWithin(rule({ budgets: {} }), rule({ budgets: { constructor: 2 } }))).toBe(false)
    expect(isWithin(rule({ rate: { calls: 1, perMs: 10 } }), rule({ rate: { calls: 2, perMs: 10 } }))).toBe(
      true,
    )
    expect(isWithin(rule({ rate: { calls: 1, perMs: 1 } }), rule({ rate: { calls: 2, perMs: 10 } }))).toBe(
      false,
    )
  })

  it('allows no argument that the other does not', () => {
    expect(isWithin(only('ab'), only({ prefix: 'a' }))).toBe(true)
    expect(isWithin(only({ prefix: 'ab' }), only({ prefix: 'a' }))).toBe(true)
    expect(isWithin(only({ prefix: 'a' }), only({ prefix: 'ab' }))).toBe(false)
    expect(isWithin(only({ prefix: 'a' }), only('a'))).toBe(false)
    expect(isWithin(only(5, { min: 1, max: 2 }), only({ min: 1, max: 5 }))).toBe(true)
    expect(isWithin(only({ min: 1 }), only({ min: 1, max: 5 }))).toBe(false)
    expect(isWithin(only({ min: 1 }), only({ prefix: 'a' }))).toBe(false)
    expect(isWithin(only({ prefix: 'a' }), only({}))).toBe(false)
    expect(isWithin(rule({}), only('a'))).toBe(false)
  })
})

describe('arguments of a call', () => {
  const only = { '/url': [{ prefix: 'https://a.test/' }], '/n': [{ min: 1, max: 3 }, null] }
  it('are what the rule allows', () => {
    expect(argumentProblem(undefined, 1)).toBeUndefined()
    expect(argumentProblem(only, { url: 'https://a.test/x', n: 3 })).toBeUndefined()
    expect(argumentProblem(only, { url: 'https://a.test/x', n: null })).toBeUndefined()
    expect(argumentProblem(only, { url: 'https://a.test.evil/', n: 1 })).toBe(
      'url is not among what was granted',
    )
    expect(argumentProblem(only, { url: 'https://a.test/', n: 4 })).toBe('n is not among what was granted')
    expect(argumentProblem({ '': ['x'] }, 'y')).toBe('the arguments are not among what was granted')
  })

  it('are looked for among own members, by JSON Pointer', () => {
    expect(argumentProblem({ '/a~1b/0': [1] }, { 'a/b': [1] })).toBeUndefined()
    expect(argumentProblem({ '/constructor/name': ['Object'] }, {})).toBeDefined()
    expect(argumentProblem({ '/__proto__': [null] }, {})).toBeDefined()
  })
})

describe('budgets', () => {
  it('are at most what is around, where both say something', () => {
    expect(budgetProblems({ fuel: 2, calls: 1 }, { fuel: 1 })).toEqual([
      { at: '/fuel', problem: 'is 2, and what is around it has 1' },
    ])
    expect(budgetProblems({ fuel: 2 }, undefined)).toEqual([])
    expect(budgetProblems({ units: { constructor: 2, a: 3 } }, { units: { a: 2 } })).toEqual([
      { at: '/units/a', problem: 'is 3, and what is around it has 2' },
    ])
  })

  it('leave to what is inside the parts that they do not name', () => {
    expect(budgetWithin({ fuel: 1, units: { a: 1 } }, { fuel: 2, calls: 3, units: { b: 2 } })).toEqual({
      fuel: 1,
      calls: 3,
      units: { a: 1, b: 2 },
    })
    expect(budgetWithin(undefined, { fuel: 1 })).toEqual({ fuel: 1 })
    expect(budgetWithin({ fuel: 1 }, undefined)).toEqual({ fuel: 1 })
  })
})
