import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sha256 } from '../../base/digest.ts'
import { decodeCanonical } from '../../values/decode-canonical.ts'
import { encodeCanonical } from '../../values/encode-canonical.ts'
import { DEFAULT_VALUE_LIMITS } from '../../values/limits.ts'
import { definePlan } from '../plan/define-plan.ts'
import type { Plan } from '../plan/plan.ts'
import { arbitraryPlan } from './arbitrary-plan.testkit.ts'
import { encodeImage, imageOfState } from './image-of-state.ts'
import { nextActions } from './next-actions.ts'
import type { RecordedEvent } from './run-event.ts'
import { RunState } from './run-state.ts'
import { type Fate, play } from './simulate.testkit.ts'
import { stateOfImage } from './state-of-image.ts'

/** By both ways, which give the same. */
function bytesOf(state: RunState): Uint8Array {
  const bytes = encodeImage(state, DEFAULT_VALUE_LIMITS)
  expect(sha256(bytes)).toBe(sha256(encodeCanonical(imageOfState(state))))
  return bytes
}

function again(plan: Plan, state: RunState): RunState {
  return stateOfImage(plan, decodeCanonical(bytesOf(state)))
}

function actionsOf(state: RunState): readonly unknown[] {
  const told = nextActions(state).map((action) => ({
    ...action,
    ...('node' in action && { node: action.node.path }),
    ...('because' in action && { because: action.because.path }),
    ...('scope' in action && { scope: action.scope.path }),
  }))
  return told.map((action) => JSON.stringify(action)).sort()
}

/** The events of a run as a journal has them, with a time each. */
function recorded(plan: Plan, fate: Fate): readonly RecordedEvent[] {
  return play(plan, fate).events.map((event, i) => ({ ...event, timeMs: 1_000 + i }) as RecordedEvent)
}

function fateOf(draws: readonly number[], failing: number): Fate {
  let i = 0
  return { atOnce: 3, failing, draw: (below) => (draws[i++ % draws.length] ?? 0) % below }
}

const LOOP = {
  format: 'plan/1',
  name: 'p',
  version: '1',
  grants: ['a.b'],
  nodes: {
    again: {
      kind: 'loop',
      state: 0,
      until: true,
      most: 4,
      do: { nodes: { x: { kind: 'call', capability: 'a.b' } } },
    },
  },
} as const satisfies Plan

describe('the image of a state', () => {
  it('goes on as the state itself does, from every event of every run (invariant 1)', () => {
    fc.assert(
      fc.property(
        arbitraryPlan(),
        fc.infiniteStream(fc.nat(1_000)),
        fc.constantFrom(0, 3, 10),
        (drawn, seed, failing) => {
          const { plan } = definePlan(drawn)
          const sorted = (decodeCanonical(encodeCanonical({ plan })) as { readonly plan: Plan }).plan
          const draws = { atOnce: 3, failing, draw: (below: number) => Number(seed.next().value) % below }
          const whole = new RunState(plan)
          let restored: RunState | undefined
          for (const event of recorded(plan, draws)) {
            whole.apply(event)
            restored?.apply(event)
            if (restored !== undefined) {
              expect(sha256(bytesOf(restored))).toBe(sha256(bytesOf(whole)))
              expect(actionsOf(restored)).toEqual(actionsOf(whole))
            }
            // What comes next is applied to a state that was restored just before it, or a while before.
            if (restored === undefined || whole.events % 3 === 0) restored = again(sorted, whole)
          }
        },
      ),
      { numRuns: 50 },
    )
  })

  it('keeps what is around what an earlier round of a loop in a loop left to be undone', () => {
    const compensate = { kind: 'call', capability: 'a.b', input: null } as const
    const x = { kind: 'call', capability: 'a.b', when: { $eval: 'true' }, compensate } as const
    const inner = { kind: 'loop', state: 0, until: true, most: 2, do: { nodes: { x } } } as const
    const nodes = { again: { ...LOOP.nodes.again, do: { nodes: { inner } } } }
    const { plan } = definePlan({ ...LOOP, nodes })
    const state = new RunState(plan)
    const digest = `sha256:${'0'.repeat(64)}`
    const value = { value: 0 }
    const start = (node: string): object => ({ type: 'node_started', node, attempt: 1, input: value })
    const events: readonly object[] = [
      { type: 'proposed', format: 'run/1', id: 'r', tools: {}, plan: digest, input: value, by: 'a' },
      { type: 'approved', request: digest, by: 'a' },
      { type: 'started', by: 'a', atMs: 0 },
      start('again'),
      start('again/0/inner'),
      start('again/0/inner/0/x'),
      { type: 'node_completed', node: 'again/0/inner/0/x', output: value },
      { type: 'node_round', node: 'again/0/inner', round: 0, state: value, done: false },
      { type: 'node_skipped', node: 'again/0/inner/1/x', reason: 'condition' },
      { type: 'node_round', node: 'again/0/inner', round: 1, state: value, done: true },
      { type: 'node_completed', node: 'again/0/inner', output: value },
      { type: 'node_round', node: 'again', round: 0, state: value, done: false },
    ]
    for (const event of events) state.apply({ ...event, timeMs: 0 } as RecordedEvent)
    const restored = again(plan, state)
    expect(restored.undoable.map(({ path }) => path)).toEqual(['again/0/inner/0/x'])
    expect(actionsOf(restored)).toEqual(actionsOf(state))
  })

  it('of a loop is as large after many rounds as after few', () => {
    const plan: Plan = { ...LOOP, nodes: { again: { ...LOOP.nodes.again, most: 1_000 } } }
    const state = new RunState(plan)
    const apply = (event: object): void => state.apply(event as RecordedEvent)
    const digest = `sha256:${'0'.repeat(64)}`
    const input = { value: 0 }
    apply({ type: 'proposed', format: 'run/1', id: 'r', tools: {}, plan: digest, input, by: 'a', timeMs: 0 })
    apply({ type: 'approved', request: digest, by: 'a', timeMs: 0 })
    apply({ type: 'started', by: 'a', atMs: 0, timeMs: 0 })
    apply({ type: 'node_started', node: 'again', attempt: 1, input, timeMs: 0 })
    const sizes: number[] = []
    for (let round = 0; round < 200; round += 1) {
      const node = `again/${round}/x`
      apply({ type: 'node_started', node, attempt: 1, input, timeMs: 0 })
      apply({ type: 'node_completed', node, output: input, timeMs: 0 })
      if (round % 50 === 10) {
        expect([...state.nodes]).toHaveLength(2)
        // What the guard of loops remembers is bounded by itself.
        sizes.push(encodeCanonical({ ...imageOfState(state), loops: null }).length)
      }
      apply({ type: 'node_round', node: 'again', round, state: input, done: false, timeMs: 0 })
    }
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThan(10)
  })

  it('is refused with its place where anything in it is of another shape, or names what is not there (invariant 2)', () => {
    const events = recorded(LOOP, fateOf([1, 5, 7, 2, 9, 4], 0))
    const state = new RunState(LOOP)
    for (const event of events.slice(0, 6)) state.apply(event)
    const image = imageOfState(state)
    const changed = (more: object): unknown => ({ ...image, ...more })
    const refused = (data: unknown, message: RegExp): void => {
      let thrown: unknown
      try {
        stateOfImage(LOOP, data)
      } catch (error) {
        thrown = error
      }
      expect(thrown).toMatchObject({ code: 'corrupted', message: expect.stringMatching(message) })
    }
    expect(() => stateOfImage(LOOP, image)).not.toThrow()
    refused(null, /must be an object/)
    refused(changed({ used: 1 }), /used/)
    refused(changed({ anything: 1 }), /anything/)
    refused(changed({ format: 'state/2' }), /format/)
    refused(changed({ live: [99] }), /number 99/)
    refused(changed({ undoable: [-1] }), /undoable\/0/)
    refused(changed({ ready: [[0, 'toString']] }), /toString/)
    refused(changed({ nodes: [{ ...image.nodes[0], id: '__proto__' }] }), /__proto__/)
    refused(changed({ nodes: [{ ...image.nodes[0], status: 'gone' }] }), /nodes\/0\/status/)
    refused(changed({ nodes: [image.nodes[0], image.nodes[0]] }), /there twice/)
    refused(changed({ scopes: [...image.scopes, { ...image.scopes[0] }] }), /in no node/)
    refused(changed({ scopes: [{ ...image.scopes[0], waits: [] }, ...image.scopes.slice(1)] }), /other nodes/)
    refused(changed({ scopes: [{ ...image.scopes[0], owner: 0 }] }), /number/)
  })
})
