/** Forks: what happened up to a point has happened in both runs, and nothing after it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { capability, openRuntime, type Plan, type PlanRun, type Runtime } from '../../src/entry/node.ts'

const keys: string[] = []
const pay = capability({
  name: 'bank.pay',
  description: 'Pays',
  effect: 'write',
  invoke: async (_: unknown, { idempotencyKey }) => {
    keys.push(idempotencyKey)
    return { paid: true }
  },
})

const PLAN: Plan = {
  format: 'plan/1',
  name: 'paying',
  version: '1',
  grants: ['bank.pay'],
  nodes: {
    first: { kind: 'program', source: 'return Math.random()' },
    pay: { kind: 'call', capability: 'bank.pay', input: {}, after: ['first'] },
    ask: { kind: 'approval', question: 'Well?', show: { $from: 'first' }, after: ['pay'] },
    last: { kind: 'program', source: 'return Math.random()', after: ['ask'] },
  },
  output: { first: { $from: 'first' }, last: { $from: 'last' } },
}

let runtime: Runtime
let types: string[]

async function end(run: PlanRun): Promise<{ first: number; last: number }> {
  expect((await run.outcome()).status).toBe('waiting')
  const [request] = await run.requests()
  if (request === undefined) throw new Error('Nobody is asked.')
  await run.decide({ request: request.digest, by: 'bob', decision: 'approve' })
  const outcome = await run.outcome()
  if (outcome.status !== 'completed') throw new Error(outcome.status)
  return outcome.output as { first: number; last: number }
}

const behind = (type: string, node: string): number => types.indexOf(`${type} ${node}`) + 1

beforeAll(async () => {
  runtime = await openRuntime({ capabilities: [pay], store: createMemoryRunStore() })
  const run = await runtime.propose(PLAN, { by: 'ann', run: 'r' })
  await run.approve({ by: 'bob', digest: (await run.view()).request })
  await run.start({ by: 'bob' })
  await end(run)
  types = []
  for await (const { event } of run.events({ until: 'now' }))
    types.push(`${event.type} ${'node' in event ? event.node : ''}`)
})

afterAll(() => runtime.close())

describe('a fork', () => {
  it('goes on from its point: no effect is made again, and chance is another one', async () => {
    const before = keys.length
    const original = await (await runtime.planRun('r')).outcome()
    const fork = await runtime.fork('r', { at: behind('node_completed', 'pay'), run: 'f', by: 'cat' })
    const view = await fork.view()
    expect(view.status).toBe('frozen')
    await expect(fork.resume({ by: 'cat' })).rejects.toMatchObject({ code: 'confirmation_required' })
    await fork.resume({ by: 'cat', point: view.point })
    const { first, last } = await end(fork)
    expect(keys).toHaveLength(before)
    expect(original).toMatchObject({ output: { first } })
    expect(original).not.toMatchObject({ output: { last } })
    const { difference, executed } = await runtime.verify('f')
    expect(difference).toBeUndefined()
    expect(executed).toBe(2)
  })

  it('makes effects after its point under keys of its own, and says where it comes from', async () => {
    const before = keys.length
    const at = behind('node_completed', 'first')
    const fork = await runtime.fork('r', { at, run: 'g', by: 'cat' })
    await fork.resume({ by: 'cat', point: (await fork.view()).point })
    await end(fork)
    expect(keys).toHaveLength(before + 1)
    expect(new Set(keys).size).toBe(keys.length)
    for await (const { event } of fork.events({ until: 'now', types: ['proposed'] }))
      expect(event).toMatchObject({ from: [{ run: 'r', events: at }] })
    expect((await runtime.receipts('g')).map(({ receipt }) => receipt.node)).toEqual(['pay', 'ask', 'last'])
  })

  it('of a fork knows both runs that it comes from', async () => {
    const fork = await runtime.fork('g', { at: behind('node_completed', 'pay') + 2, run: 'h', by: 'cat' })
    await fork.resume({ by: 'cat', point: (await fork.view()).point })
    await end(fork)
    expect((await runtime.verify('h')).difference).toBeUndefined()
  })

  it('before the start is a proposal, which is approved anew', async () => {
    const fork = await runtime.fork('r', { at: 2, run: 'p', by: 'cat' })
    expect((await fork.view()).status).toBe('proposed')
    const { request } = await (await runtime.planRun('r')).view()
    await expect(fork.approve({ by: 'bob', digest: request })).rejects.toMatchObject({
      code: 'approval_mismatch',
    })
  })

  it('is refused where a call is under way, where people are asked, and after the end', async () => {
    for (const at of [behind('node_called', 'pay'), behind('node_waiting', 'ask'), types.length])
      await expect(runtime.fork('r', { at, by: 'cat' })).rejects.toMatchObject({ code: 'invalid_transition' })
    for (const at of [0, types.length + 1, 1.5])
      await expect(runtime.fork('r', { at, by: 'cat' })).rejects.toMatchObject({ code: 'invalid_argument' })
  })
})
