/** What a journal says of requests to people, and what may not follow in it. */
import { describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../../host-bindings/store/memory-run-store.ts'
import type { Digest } from '../../base/digest.ts'
import { type PersonRequest, requestDigest } from '../../capability/person-request.ts'
import type { Plan } from '../plan/plan.ts'
import { decisionEvents, requestsOf } from './decisions.ts'
import { nextActions } from './next-actions.ts'
import type { Asked, RunEvent } from './run-event.ts'
import { RunState } from './run-state.ts'
import { RunValues } from './run-values.ts'

const NO_DIGEST = `sha256:${'0'.repeat(64)}` as Digest
const NOTHING = { value: null }
const PLAN: Plan = {
  format: 'plan/1',
  name: 'p',
  version: '1',
  grants: ['a.b'],
  nodes: { a: { kind: 'program', source: '1', grants: ['a.b'] } },
}

function requestOf(number: number): PersonRequest {
  return { id: `a#${number}`, kind: 'call', run: 'r', node: 'a', action: 'a.b', args: number }
}

function askedOf(number: number): Asked {
  const request = requestOf(number)
  return { request: requestDigest(request), shown: { value: request } }
}

/** A program that asks for as many things. */
function asking(...asked: readonly Asked[]): RunState {
  const state = new RunState(PLAN)
  const events: RunEvent[] = [
    { type: 'proposed', format: 'run/1', id: 'r', plan: NO_DIGEST, tools: {}, input: NOTHING, by: 'ann' },
    { type: 'approved', request: NO_DIGEST, by: 'ann' },
    { type: 'started', by: 'ann', atMs: 0 },
    { node: 'a', type: 'node_started', attempt: 1, input: NOTHING },
    { node: 'a', type: 'node_waiting', waiting: { for: 'person', asked } },
  ]
  for (const event of events) state.apply(event)
  return state
}

const decided = ({ request }: Asked, approved = true): RunEvent => ({
  node: 'a',
  type: 'node_decided',
  request,
  by: 'bob',
  approved,
})
const withdrawn = ({ request }: Asked): RunEvent => ({
  node: 'a',
  type: 'node_withdrawn',
  request,
  by: 'bob',
})
const woken: RunEvent = { node: 'a', type: 'node_woken' }

const mismatch = expect.objectContaining({ code: 'approval_mismatch' })

describe('a request', () => {
  const one = askedOf(1)
  const two = askedOf(2)

  it('is decided once, and by a decision over it alone', () => {
    const state = asking(one, two)
    expect(() => state.apply(decided(askedOf(3)))).toThrow(mismatch)
    state.apply(decided(one))
    expect(() => state.apply(decided(one, false))).toThrow(mismatch)
    expect(state.node('a')?.requests.get(two.request)?.decision).toBeUndefined()
  })

  it('that is decided lets its node go on, unless that is taken back before', () => {
    const state = asking(one)
    expect(nextActions(state)).toEqual([])
    expect(() => state.apply(withdrawn(one))).toThrow(mismatch)
    state.apply(decided(one))
    expect(nextActions(state)).toMatchObject([{ do: 'go_on' }])
    state.apply(withdrawn(one))
    expect(nextActions(state)).toEqual([])
    state.apply(decided(one, false))
    state.apply(woken)
    expect(() => state.apply(withdrawn(one))).toThrow(mismatch)
    expect(() => state.apply(decided(one))).toThrow(mismatch)
  })

  it('that is decided while its node goes on with another one is not forgotten', () => {
    const state = asking(one, two)
    state.apply(decided(one))
    state.apply(woken)
    state.apply(decided(two))
    state.apply({ node: 'a', type: 'node_waiting', waiting: { for: 'person', asked: [two] } })
    expect(nextActions(state)).toMatchObject([{ do: 'go_on' }])
    expect([...(state.node('a')?.requests.keys() ?? [])]).toEqual([two.request])
    expect(state.node('a')?.asks).toBe(2)
  })

  it('is shown as it was asked, or not at all', async () => {
    const values = new RunValues(createMemoryRunStore())
    expect(await requestsOf(asking(one, two), values)).toMatchObject([{ args: 1 }, { args: 2 }])
    const forged = { ...one, shown: { value: { ...requestOf(1), args: 'harmless' } } }
    await expect(requestsOf(asking(forged), values)).rejects.toMatchObject({ code: 'corrupted' })
  })

  it('is decided together with others whole, or not at all', async () => {
    const values = new RunValues(createMemoryRunStore())
    const state = asking(one, two)
    const say = (...requests: readonly Digest[]) =>
      decisionEvents(
        state,
        values,
        requests.map((request) => ({ request, by: 'bob', decision: 'approve' })),
        0,
      )
    await expect(say(one.request, NO_DIGEST)).rejects.toEqual(mismatch)
    await expect(say(one.request, one.request)).rejects.toEqual(mismatch)
    expect(await say(one.request, two.request)).toHaveLength(2)
  })

  it('of a run that is cancelled is shown to nobody any more', async () => {
    const state = asking(one)
    state.apply({ type: 'cancel_asked', by: 'ann', reason: 'enough' })
    expect(await requestsOf(state, new RunValues(createMemoryRunStore()))).toEqual([])
  })

  it('of a run that has ended, or was never started, is decided by nobody', async () => {
    const values = new RunValues(createMemoryRunStore())
    const decision = { request: one.request, by: 'bob', decision: 'approve' } as const
    await expect(decisionEvents(new RunState(PLAN), values, [decision], 0)).rejects.toMatchObject({
      code: 'invalid_transition',
    })
  })
})
