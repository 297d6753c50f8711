/** Runs of plans, used as whoever embeds them should not use them: what is recorded can be read again, whole or not at all. */
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import {
  capability,
  type Decision,
  openRuntime,
  type Plan,
  type PlanRun,
  type Runtime,
} from '../../src/entry/node.ts'

/** Calls of `slow.pay` that are under way, each until it is called. */
type Held = (() => void)[]

function toolsOf(held: Held, done: string[] = []) {
  return [
    capability({
      name: 'slow.pay',
      description: 'Pays, when it is let go',
      effect: 'write',
      invoke: async () => {
        done.push('pay')
        await new Promise<void>((resolve) => held.push(resolve))
        return 'paid'
      },
    }),
    capability({
      name: 'mail.send',
      description: 'Sends a letter',
      effect: 'write',
      approve: true,
      invoke: async ({ to }: { to: string }) => {
        done.push(to)
        return to
      },
    }),
    capability({
      name: 'nothing.give',
      description: 'Gives nothing',
      effect: 'read',
      invoke: async () => {},
    }),
  ]
}

const planOf = (nodes: Plan['nodes'], more: Partial<Plan> = {}): Plan => ({
  format: 'plan/1',
  name: 'attacked',
  version: '1',
  grants: ['slow.pay', 'mail.send', 'nothing.give'],
  nodes,
  ...more,
})

async function approvedRun(runtime: Runtime, plan: Plan): Promise<PlanRun> {
  const run = await runtime.propose(plan, { by: 'model' })
  await run.approve({ by: 'ann', digest: (await run.view()).request })
  return run
}

async function startedRun(runtime: Runtime, plan: Plan): Promise<PlanRun> {
  const run = await approvedRun(runtime, plan)
  await run.start({ by: 'ann' })
  return run
}

const ASKS: Plan['nodes'] = { ask: { kind: 'approval', question: 'Go on?' } }

describe('what is recorded', () => {
  it('can be read again, whatever gives nothing', async () => {
    await using runtime = await openRuntime({ capabilities: toolsOf([]) })
    const nodes: Plan['nodes'] = {
      program: { kind: 'program', source: 'return undefined' },
      call: { kind: 'call', capability: 'nothing.give' },
      mapped: { kind: 'program', source: 'return [typeof input]', input: { $eval: 'undefined' } },
    }
    const output = {
      $eval: '[typeof a, typeof b, c[0]]',
      with: { a: { $from: 'program' }, b: { $from: 'call' }, c: { $from: 'mapped' } },
    }
    const run = await startedRun(runtime, planOf(nodes, { output }))
    // What refers to nothing is given null.
    const expected = ['object', 'object', 'undefined']
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: expected })
    expect((await run.view()).status).toBe('completed')
    expect(await runtime.verify(run.run)).toMatchObject({ ok: true })
  })

  it('is nothing that could not be read again: what a host gives is checked before', async () => {
    await using runtime = await openRuntime({ capabilities: toolsOf([]) })
    const asks = planOf(ASKS)
    const text = 'x'.repeat(200_000)
    for (const odd of [5, null, {}, text] as never[]) {
      const proposed = await runtime.propose(asks, { by: 'model' })
      const { request: digest } = await proposed.view()
      const refused = { code: 'invalid_argument' }
      await expect(proposed.approve({ by: 'ann', digest, comment: odd })).rejects.toMatchObject(refused)
      await expect(proposed.reject({ by: 'ann', reason: odd })).rejects.toMatchObject(refused)
      await expect(proposed.cancel({ by: 'ann', reason: odd })).rejects.toMatchObject(refused)
      expect(await proposed.view()).toMatchObject({ status: 'proposed', events: 1 })
    }
    const frozen = await startedRun(
      runtime,
      planOf(
        { a: { kind: 'program', source: '1' }, b: { kind: 'program', source: '1', after: ['a'] } },
        { budget: { steps: 1 } },
      ),
    )
    const outcome = await frozen.outcome()
    if (outcome.status !== 'frozen') throw new Error(outcome.status)
    const { point } = outcome
    for (const more of [
      { calls: -1 },
      { calls: Number.NaN },
      { stps: 1 },
      { units: { '': 1 } },
      [],
    ] as never[])
      await expect(frozen.resume({ by: 'ann', point, more })).rejects.toMatchObject({
        code: 'invalid_argument',
      })
    await frozen.resume({ by: 'ann', point, more: { steps: 1 } })
    expect(await frozen.outcome()).toMatchObject({ status: 'completed' })
  })

  it('is not followed by what comes after something that could not be written', async () => {
    const held: Held = []
    await using runtime = await openRuntime({ capabilities: toolsOf(held) })
    const run = await startedRun(runtime, planOf({ pay: { kind: 'call', capability: 'slow.pay' } }))
    await expect.poll(() => held.length).toBe(1)
    const reason = 'y'.repeat(3_000_000)
    await expect(run.cancel({ by: 'ann', reason })).rejects.toMatchObject({ code: 'invalid_argument' })
    for (const release of held) release()
    expect(await run.outcome()).toMatchObject({ status: 'completed' })
    expect((await run.view()).status).toBe('completed')
  })

  it('says of a call that was made that it has no answer, for as long as it has none', async () => {
    const held: Held = []
    await using runtime = await openRuntime({ capabilities: toolsOf(held) })
    const run = await startedRun(
      runtime,
      planOf({ pay: { kind: 'call', capability: 'slow.pay' }, sum: { kind: 'program', source: '1' } }),
    )
    await expect.poll(() => held.length).toBe(1)
    await expect
      .poll(async () => (await run.view()).nodes.map(({ unanswered }) => unanswered))
      .toEqual([true, undefined])
    for (const release of held) release()
    await run.outcome()
    expect((await run.view()).nodes.map(({ unanswered }) => unanswered)).toEqual([undefined, undefined])
  })

  it('is written while other nodes are at work: people are asked meanwhile, and what has ended has ended', async () => {
    const held: Held = []
    await using runtime = await openRuntime({ capabilities: toolsOf(held) })
    const run = await startedRun(
      runtime,
      planOf({
        pay: { kind: 'call', capability: 'slow.pay' },
        sum: { kind: 'program', source: 'return 1 + 1' },
        send: { kind: 'call', capability: 'mail.send', input: { to: 'bob' } },
        ...ASKS,
      }),
    )
    await expect
      .poll(async () => (await run.requests()).map(({ node }) => node).sort())
      .toEqual(['ask', 'send'])
    const { nodes } = await run.view()
    expect(nodes.find(({ path }) => path === 'sum')).toMatchObject({ status: 'completed' })
    expect(held).toHaveLength(1)
    for (const release of held) release()
    await run.outcome()
  })
})

describe('decisions that are given together', () => {
  it('count together or not at all, also where somebody else decides over one of them at the same moment', async () => {
    const held: Held = []
    const done: string[] = []
    await using runtime = await openRuntime({
      capabilities: toolsOf(held, done),
      store: createMemoryRunStore(),
    })
    const source = `return Promise.all(['bob', 'eve'].map((to) => mail.send({ to }).catch(() => 'not sent')))`
    const run = await startedRun(
      runtime,
      planOf({
        pay: { kind: 'call', capability: 'slow.pay' },
        send: { kind: 'program', source, grants: ['mail.send'] },
      }),
    )
    await expect.poll(async () => (await run.requests()).length).toBe(2)
    const [bob, eve] = (await run.requests()).map(({ digest }) => digest)
    if (bob === undefined || eve === undefined) throw new Error('Nobody is asked.')
    const approve = (request: typeof bob): Decision => ({ request, by: 'ann', decision: 'approve' })
    const both = run.decide([approve(bob), approve(eve)])
    const [together] = await Promise.allSettled([
      both,
      run.decide({ request: eve, by: 'bo', decision: 'reject', reason: 'no' }),
    ])
    const decided: string[] = []
    for await (const { event } of run.events({ until: 'now', types: ['node_decided'] }))
      if (event.type === 'node_decided') decided.push(event.by)
    expect(decided).toEqual(together.status === 'rejected' ? ['bo'] : ['ann', 'ann'])
    for (const release of held) release()
    await run.outcome()
    await sleep(0)
    expect(done.includes('bob')).toBe(together.status === 'fulfilled')
  })
})

describe('who follows a run', () => {
  const SUM: Plan['nodes'] = { sum: { kind: 'program', source: 'return 1' } }

  it('is told that nothing comes any more, from wherever they follow it', async () => {
    await using runtime = await openRuntime()
    const run = await startedRun(runtime, planOf(SUM, { grants: [] }))
    await run.outcome()
    const { events } = await run.view()
    for (const from of [events - 1, events, events + 1, events + 2_000]) {
      const told: number[] = []
      for await (const { position } of run.events({ from })) told.push(position)
      expect(told).toEqual(from < events ? [from] : [])
    }
  })

  it('from beyond the end of one that goes on is told of nothing before that, and of its end', async () => {
    await using runtime = await openRuntime()
    const run = await startedRun(runtime, planOf(ASKS, { grants: [] }))
    await run.outcome()
    const { events } = await run.view()
    const follow = async (from: number): Promise<readonly number[]> => {
      const told: number[] = []
      for await (const { position } of run.events({ from })) told.push(position)
      return told
    }
    const followers = Promise.all([follow(events), follow(events + 1), follow(events + 500)])
    const [asked] = await run.requests()
    if (asked === undefined) throw new Error('Nobody is asked.')
    await run.decide({ request: asked.digest, by: 'ann', decision: 'approve' })
    await run.outcome()
    const all = Array.from({ length: (await run.view()).events - events }, (_, i) => events + i)
    expect(await followers).toEqual([all, all.slice(1), []])
  })

  it('leaves nothing behind at a signal that lives longer', async () => {
    await using runtime = await openRuntime()
    const run = await startedRun(runtime, planOf(ASKS, { grants: [] }))
    await run.outcome()
    const { signal } = new AbortController()
    let open = 0
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    signal.addEventListener = (...given: Parameters<typeof add>) => {
      open += 1
      add(...given)
    }
    signal.removeEventListener = (...given: Parameters<typeof remove>) => {
      open -= 1
      remove(...given)
    }
    const following = (async () => {
      for await (const { event } of run.events({ signal })) if (event.type === 'cancelled') return
    })()
    await sleep(700)
    await run.cancel({ by: 'ann', reason: '' })
    await following
    expect(open).toBe(0)
  })
})

describe('a runtime that is closed', () => {
  it('drives nothing any more, whatever it was asked for just before or is asked for later', async () => {
    const held: Held = []
    const done: string[] = []
    const store = createMemoryRunStore()
    const runtime = await openRuntime({ capabilities: toolsOf(held, done), store })
    const plan = planOf({ pay: { kind: 'call', capability: 'slow.pay' } })
    const early = await approvedRun(runtime, plan)
    const late = await approvedRun(runtime, plan)
    const starting = early.start({ by: 'ann' }).catch(() => {})
    await runtime.close()
    await starting
    const disposed = { code: 'disposed' }
    await expect(late.start({ by: 'ann' })).rejects.toMatchObject(disposed)
    await expect(late.cancel({ by: 'ann', reason: '' })).rejects.toMatchObject(disposed)
    await sleep(50)
    expect(done).toEqual([])
    expect((await late.view()).status).toBe('approved')
  })
})

describe('a name of a run', () => {
  it('is none that its store gives to a part of another one', async () => {
    await using runtime = await openRuntime()
    const plan = planOf(ASKS, { grants: [] })
    const run = await runtime.propose(plan, { by: 'model', run: 'r' })
    for (const name of ['r.values-1', `r.${'0a'.repeat(12)}`]) {
      const refused = { code: 'invalid_argument', details: { option: 'run' } }
      await expect(runtime.propose(plan, { by: 'model', run: name })).rejects.toMatchObject(refused)
      await expect(runtime.fork(run.run, { at: 1, by: 'ann', run: name })).rejects.toMatchObject(refused)
      // Else a program that somebody put there would be gone on with in the place of the plan's, with its rights.
      await expect(runtime.run('return 1', { run: name })).rejects.toMatchObject(refused)
    }
    await expect(runtime.propose(plan, { by: 'model', domain: 5 as never })).rejects.toMatchObject({
      code: 'invalid_argument',
    })
  })
})

describe('what was decided', () => {
  it('is over with its run: nothing of it counts for another one of the same name', async () => {
    const store = createMemoryRunStore()
    await using runtime = await openRuntime({ store })
    const plan = planOf(ASKS, { grants: [] })
    const propose = (): Promise<PlanRun> => runtime.propose(plan, { by: 'model', run: 'daily' })
    const first = await propose()
    const { request: digest } = await first.view()
    await first.approve({ by: 'ann', digest })
    await first.start({ by: 'ann' })
    await first.outcome()
    const [asked] = await first.requests()
    if (asked === undefined) throw new Error('Nobody is asked.')
    const decision: Decision = { request: asked.digest, by: 'ann', decision: 'approve' }
    await first.decide(decision)
    expect(await first.outcome()).toMatchObject({ status: 'completed' })
    const lease = await store.lease('daily', 1_000)
    await store.remove('daily', lease)
    await lease.release()

    const second = await propose()
    const replayed = { code: 'approval_mismatch' }
    await expect(second.approve({ by: 'eve', digest })).rejects.toMatchObject(replayed)
    await second.approve({ by: 'ann', digest: (await second.view()).request })
    await second.start({ by: 'ann' })
    expect(await second.outcome()).toMatchObject({ status: 'waiting', requests: 1 })
    await expect(second.decide(decision)).rejects.toMatchObject(replayed)
  })
})

describe('a run with calls in doubt', () => {
  it('does not go on while one of them has no answer', async () => {
    const held: Held = []
    await using runtime = await openRuntime({ capabilities: toolsOf(held) })
    const source = 'return Promise.all([slow.pay({ n: 1 }), slow.pay({ n: 2 })])'
    const run = await approvedRun(
      runtime,
      planOf({ pay: { kind: 'program', source, grants: ['slow.pay'] } }, { output: { $from: 'pay' } }),
    )
    const interruption = new AbortController()
    await run.start({ by: 'ann', signal: interruption.signal })
    await expect.poll(() => held.length).toBe(2)
    interruption.abort()
    await run.outcome()
    await run.resume({ by: 'ann', unseen: true })
    expect(await run.outcome()).toMatchObject({ status: 'frozen', reason: 'in_doubt' })
    const happened = (call: number) =>
      ({ node: 'pay', by: 'ann', call, happened: true, value: call }) as const
    const resume = (...calls: readonly number[]): Promise<void> =>
      run.resume({ by: 'ann', unseen: true, answers: calls.map(happened) })
    await expect(resume(1)).rejects.toMatchObject({ code: 'in_doubt', details: { nodes: ['pay'] } })
    await resume(1, 2)
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: [1, 2] })
  })
})

describe('a run of many calls that wait for nothing', () => {
  it('leaves timers of its host their turn', async () => {
    const read = capability({
      name: 'list.read',
      description: 'Reads',
      effect: 'read',
      invoke: async () => 1,
    })
    await using runtime = await openRuntime({ capabilities: [read] })
    const item: Plan['nodes'] = { read: { kind: 'call', capability: 'list.read', input: { $from: 'item' } } }
    const over = { $from: 'input' }
    const nodes: Plan['nodes'] = { all: { kind: 'each', over, most: 2_000, do: { nodes: item } } }
    const input = Array.from({ length: 2_000 }, (_, i) => i)
    const run = await runtime.propose(planOf(nodes, { grants: ['list.read'] }), { by: 'model', input })
    await run.approve({ by: 'ann', digest: (await run.view()).request })
    let turns = 0
    const timer = setInterval(() => {
      turns += 1
    }, 5)
    await run.start({ by: 'ann' })
    turns = 0
    expect(await run.outcome()).toMatchObject({ status: 'completed' })
    clearInterval(timer)
    expect(turns).toBeGreaterThan(1)
  })
})
