import { describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../../host-bindings/store/memory-run-store.ts'
import { Evaluator } from './evaluate.ts'
import type { ScopeState } from './node-state.ts'
import type { RunState } from './run-state.ts'
import { RunValues } from './run-values.ts'

/** A list that says which of its members are looked at. */
function watched(length: number): { readonly list: unknown[]; readonly seen: Set<PropertyKey> } {
  const seen = new Set<PropertyKey>()
  const all = Array.from({ length }, (_, i) => ({ sku: `s${i}`, rows: [i] }))
  const list = new Proxy(all, {
    get(target, key, receiver) {
      seen.add(key)
      return Reflect.get(target, key, receiver) as unknown
    },
    ownKeys(target) {
      seen.add('all')
      return Reflect.ownKeys(target)
    },
  })
  return { list, seen }
}

describe('a reference', () => {
  const evaluator = (state: Partial<RunState>): Evaluator =>
    new Evaluator(state as RunState, new RunValues(createMemoryRunStore()), async () => ({
      ok: true,
      value: 1,
    }))
  const stop = new AbortController()

  it('to an item costs that item, however long the list is', async () => {
    const { list, seen } = watched(1_000)
    const owner = { node: { kind: 'each' }, input: { value: list } }
    const scope = { index: 7, owner, plan: { scope: { nodes: {} } } } as unknown as ScopeState
    const given = await evaluator({}).evaluate({ $from: 'item/rows' }, scope, stop)
    expect(given).toEqual([7])
    expect([...seen]).toEqual(['7'])
  })

  it('to a part of a value costs that part, and shares nothing with it (invariant 1)', async () => {
    const { list, seen } = watched(1_000)
    const input = { value: { list } }
    const scope = { owner: undefined, plan: { scope: { nodes: {} } } } as unknown as ScopeState
    const given = await evaluator({ input }).evaluate({ $from: 'input/list/3' }, scope, stop)
    expect(given).toEqual({ sku: 's3', rows: [3] })
    expect(given).not.toBe(list[3])
    expect([...seen]).toEqual(['3'])
  })

  it('follows own members only (invariant 2)', async () => {
    const scope = { owner: undefined, plan: { scope: { nodes: {} } } } as unknown as ScopeState
    for (const path of ['input/toString', 'input/list/9', 'input/list/__proto__', 'input/none/more'])
      expect(
        await evaluator({ input: { value: { list: [1] } } }).evaluate({ $from: path }, scope, stop),
      ).toBe(null)
  })
})
