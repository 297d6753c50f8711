import { describe, expect, it } from 'vitest'
import type { Plan } from './plan.ts'
import { placeOf, rightsAt } from './rights-at.ts'

const INNER: Plan = {
  format: 'plan/1',
  name: 'inner',
  version: '1',
  grants: ['a.read'],
  nodes: {
    look: { kind: 'call', capability: 'a.read' },
    think: { kind: 'program', source: 'return 1', grants: [] },
  },
}

const PLAN: Plan = {
  format: 'plan/1',
  name: 'outer',
  version: '1',
  grants: ['a.read', 'b.write'],
  nodes: {
    write: {
      kind: 'call',
      capability: 'b.write',
      compensate: { kind: 'program', source: 'return 1', grants: ['b.write'] },
    },
    every: {
      kind: 'each',
      over: [1, 2],
      most: 2,
      do: { nodes: { part: { kind: 'plan', plan: INNER }, step: { kind: 'call', capability: 'a.read' } } },
    },
  },
}

/** Places, from the innermost on, each with what is granted there. */
function told(path: string): readonly (readonly [string, readonly string[]])[] {
  return rightsAt(PLAN, path).map(({ place, rules }) => [place, [...rules.keys()]])
}

const ROOT = ['', ['a.read', 'b.write']]

describe('rights at a node', () => {
  it('are those of the plan, of plans around it, and its own', () => {
    expect(told('')).toEqual([ROOT])
    expect(told('write')).toEqual([ROOT])
    expect(told('write#undo')).toEqual([['write#undo', ['b.write']], ROOT])
    expect(told('every/0/step')).toEqual([ROOT])
    expect(told('every/1/part/look')).toEqual([['every/part', ['a.read']], ROOT])
    expect(told('every/1/part/think')).toEqual([['every/part/think', []], ['every/part', ['a.read']], ROOT])
  })

  it('are the same ones for all items, and for all nodes that have none of their own', () => {
    expect(rightsAt(PLAN, 'every/1/part/look')).toBe(rightsAt(PLAN, 'every/0/part/look'))
    expect(rightsAt(PLAN, 'every/0/step')).toBe(rightsAt(PLAN, 'write'))
  })

  it('of what the plan does not have are those around it', () => {
    expect(told('nothing')).toEqual([ROOT])
    expect(told('write/inside')).toEqual([ROOT])
    expect(told('every/0/part/nothing')).toEqual([['every/part', ['a.read']], ROOT])
  })

  it('have a place without the numbers of items and rounds', () => {
    expect(placeOf('every/12/part/look')).toBe('every/part/look')
    expect(placeOf('a/3/b/0/c#undo')).toBe('a/b/c#undo')
    expect(placeOf('a1/b2')).toBe('a1/b2')
  })
})
