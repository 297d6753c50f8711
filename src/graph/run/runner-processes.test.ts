/** Runs that are left by one process and gone on with by another. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../../host-bindings/store/memory-run-store.ts'
import type { RunStore } from '../../ports/run-store.ts'
import { definePlan } from '../plan/define-plan.ts'
import type { PlanNode, Template } from '../plan/plan.ts'
import { arbitraryPlan } from './arbitrary-plan.testkit.ts'
import type { RunState } from './run-state.ts'
import { call, goOn, planOf, run, TRANSIENT, World } from './runner.testkit.ts'
import { ENDED } from './transitions.ts'

describe('a process that is brought to rest in the middle of an expression', () => {
  const expression = { $eval: 'true' }
  const places: Readonly<Record<string, { readonly nodes: Record<string, PlanNode>; output?: Template }>> = {
    'the condition of a node': { nodes: { a: call({ when: expression }) } },
    'the input of a node': { nodes: { a: call({ input: expression }) } },
    'a case of a choice': {
      nodes: { which: { kind: 'choice', cases: [{ when: expression, take: ['a'] }] }, a: call() },
    },
    'the end of a round': {
      nodes: { a: { kind: 'loop', most: 3, do: { nodes: { one: call() } }, until: expression } },
    },
    'the output of a plan in it': {
      nodes: { a: { kind: 'each', over: [1], most: 1, do: { nodes: { one: call() }, output: expression } } },
    },
    'the output of the run': { nodes: { a: call() }, output: expression },
    'what stands in': { nodes: { fails: call({ fallback: [{ value: expression }] }) } },
    'the input of what undoes': {
      nodes: {
        a: call({ compensate: { kind: 'call', capability: 'a.b', input: expression } }),
        fails: call({ after: ['a'] }),
      },
    },
  }

  it.each(Object.entries(places))(
    'leaves %s to whoever goes on with the run',
    async (_, { nodes, output }) => {
      const store = createMemoryRunStore()
      const { plan } = definePlan(planOf(nodes, output === undefined ? {} : { output }))
      const world = new World((path) => (path === 'fails' ? TRANSIENT : path))
      const rest = new AbortController()
      let stopped = 0
      const first = await goOn(store, plan, world, null, undefined, {
        signal: rest.signal,
        expression: async () => {
          stopped += 1
          rest.abort()
          return { ok: false, error: { class: 'unknown', code: 'aborted', message: 'The run was aborted.' } }
        },
      })
      expect([stopped, ENDED.has(first.state.status ?? 'proposed')]).toEqual([1, false])
      expect(JSON.stringify(first.events)).not.toContain('aborted')
      const { state } = await goOn(store, plan, world)
      const lived = await run(plan, new World(world.answer))
      expect(state.status).toBe(lived.state.status)
      expect(['completed', 'compensated']).toContain(state.status)
    },
  )
})

describe('a run whose process dies', () => {
  const schedule = fc.record({
    plan: arbitraryPlan(1),
    /** How many writes of the store each process survives. */
    deaths: fc.array(fc.nat(12), { maxLength: 12 }),
    failing: fc.constantFrom(0, 0, 0, 5),
    repeatable: fc.boolean(),
  })

  it('does nothing twice that is not repeatable, loses nothing, and ends as one that lived', async () => {
    await fc.assert(
      fc.asyncProperty(schedule, async ({ plan, deaths, failing, repeatable }) => {
        const store = createMemoryRunStore()
        const fate = (path: string): boolean => failing > 0 && path.length % failing === 0
        const world = new World(
          (path) => (fate(path) ? TRANSIENT : path),
          () => repeatable,
        )
        let state: RunState | undefined
        for (const writes of [...deaths, Number.POSITIVE_INFINITY]) {
          try {
            state = (await goOn(dying(store, writes), definePlan(plan).plan, world, [1, 2])).state
          } catch (error) {
            if (!hasDied(error)) throw error
          }
        }
        expect(ENDED.has(state?.status ?? 'proposed')).toBe(true)
        if (failing === 0) expect(state?.status).toBe('completed')
        if (!repeatable) expect(world.effects).toEqual([...new Set(world.effects)])
        // One that lived has the same end.
        const lived = await run(plan, new World(world.answer, world.repeatable), [1, 2])
        expect(state?.status).toBe(lived.state.status)
      }),
      { numRuns: 60 },
    )
  })
})

function hasDied(error: unknown): boolean {
  return error instanceof Error && (error.message === 'died' || hasDied(error.cause))
}

/** A store that dies after so many writes: the last one is there, and its process does not hear of it, or is not. */
function dying(store: RunStore, writes: number): RunStore {
  let left = writes
  const die = (): never => {
    throw new Error('died')
  }
  return {
    putBlob: (id, bytes) => store.putBlob(id, bytes),
    getBlob: (id) => store.getBlob(id),
    head: (name) => store.head(name),
    setHead: (name, head, lease) => store.setHead(name, head, lease),
    entries: (name, from, most) => store.entries(name, from, most),
    append: async (name, at, entries, lease) => {
      if (left < 0) die()
      left -= 1
      if (left >= 0 || writes % 2 === 0) await store.append(name, at, entries, lease)
      if (left < 0) die()
    },
    lease: (name, ttlMs) => store.lease(name, ttlMs),
    runs: () => store.runs(),
    remove: (name, lease) => store.remove(name, lease),
    collect: (options) => store.collect(options),
    close: () => store.close(),
  }
}
