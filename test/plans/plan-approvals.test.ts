/** People who decide over what plans do: calls of nodes, calls of their programs, and values that somebody has to give. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import type { Digest } from '../../src/base/digest.ts'
import { checkCapability } from '../../src/capability/define-capability.ts'
import {
  CaissonError,
  type Capability,
  openRuntime,
  type Plan,
  type PlanNode,
  type PlanRun,
  type Runtime,
} from '../../src/entry/node.ts'
import type { OpenRequest } from '../../src/graph/run/decisions.ts'

/** What was sent, and which of the next ones fail. */
let sent: unknown[] = []
let failing: CaissonError[] = []
let store = createMemoryRunStore()
const opened: Runtime[] = []

beforeEach(() => {
  sent = []
  failing = []
  store = createMemoryRunStore()
})
afterEach(async () => {
  await Promise.all(opened.splice(0).map((runtime) => runtime.close()))
})

function tools(more: object): readonly Capability[] {
  const tool = (name: string): Capability =>
    checkCapability({
      name,
      description: 'Sends something',
      effect: 'write',
      input: z.object({ to: z.string(), copies: z.number().max(9) }),
      expose: ['network_failed', 'rate_limited'],
      invoke: async (input: unknown) => {
        const error = failing.shift()
        if (error !== undefined) throw error
        sent.push(input)
        return { number: sent.length }
      },
      ...more,
    } as Capability)
  return [tool('mail.send'), tool('mail.unsend')]
}

/** Another process. */
async function inProcess(more: object = {}, options: object = {}): Promise<Runtime> {
  const runtime = await openRuntime({ capabilities: tools(more), store, ...options })
  opened.push(runtime)
  return runtime
}

const SEND: PlanNode = { kind: 'call', capability: 'mail.send', input: { to: 'Ada', copies: 1 } }
const APPROVE = { capability: 'mail.send', approve: true }

function planOf(nodes: Plan['nodes'], more: Partial<Plan> = {}): Plan {
  return { format: 'plan/1', name: 'mail', version: '1', grants: [APPROVE, 'mail.unsend'], nodes, ...more }
}

async function start(plan: Plan, runtime?: Runtime, name = 'r'): Promise<PlanRun> {
  const run = await (runtime ?? (await inProcess())).propose(plan, { by: 'model', run: name })
  await run.approve({ by: 'ann', digest: (await run.view()).request })
  await run.start({ by: 'ann' })
  await run.outcome()
  return run
}

/** Requests that nobody decided, the only one first. */
async function askedBy(run: PlanRun): Promise<OpenRequest> {
  const [only, ...more] = await openOf(run)
  if (only === undefined || more.length > 0) throw new Error(`${more.length} more are open.`)
  return only
}

async function openOf(run: PlanRun): Promise<readonly OpenRequest[]> {
  return (await run.requests()).filter(({ decided }) => decided === undefined)
}

const approve = ({ digest }: OpenRequest, more: { readonly value?: unknown } = {}) =>
  ({ request: digest, by: 'bob', decision: 'approve', ...more }) as const
const reject = ({ digest }: OpenRequest, reason = 'no', comment = '') =>
  ({ request: digest, by: 'bob', decision: 'reject', reason, comment }) as const

async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'nothing was thrown',
    (error: unknown) => (CaissonError.is(error) ? error.code : error),
  )
}

describe('a call that a person decides over', () => {
  const plan = planOf({ send: SEND }, { output: { $from: 'send' } })

  it('is shown with all that it is, and nothing of it is begun or counted before', async () => {
    const run = await start(plan)
    expect(await askedBy(run)).toMatchObject({
      run: 'r',
      node: 'send',
      kind: 'call',
      action: 'mail.send',
      effect: 'write',
      args: { to: 'Ada', copies: 1 },
      plan: run.digest,
      policy: [APPROVE],
      tool: expect.stringMatching(/^sha256:/),
      id: expect.stringMatching(/^[0-9a-f]{32}\/send#1$/),
    })
    expect((await run.view()).used.calls ?? 0).toBe(0)
    expect(sent).toEqual([])
  })

  it('is made once it is approved, in whatever process, with who and when on record', async () => {
    const first = await start(plan)
    const request = await askedBy(first)
    await first.decide(approve(request))
    expect(await first.outcome()).toMatchObject({ status: 'completed', output: { number: 1 } })
    expect(sent).toEqual([{ to: 'Ada', copies: 1 }])
    const seen: unknown[] = []
    for await (const { event } of first.events({ types: ['node_decided'], until: 'now' })) seen.push(event)
    expect(seen).toMatchObject([
      { request: request.digest, by: 'bob', approved: true, timeMs: expect.any(Number) },
    ])
  })

  it('that nobody drives is made by whoever resumes the run', async () => {
    const { digest } = await askedBy(await start(plan))
    const second = await (await inProcess()).planRun('r')
    await second.decide({ request: digest, by: 'bob', decision: 'approve' })
    expect(sent).toEqual([])
    const third = await (await inProcess()).planRun('r')
    await third.resume({ by: 'ann', unseen: true })
    expect(await third.outcome()).toMatchObject({ status: 'completed' })
    expect(sent).toHaveLength(1)
  })

  it('is made as it was changed, and no change gets past its schema', async () => {
    const run = await start(plan)
    const request = await askedBy(run)
    await run.decide(approve(request, { value: { to: 'Ada', copies: 99 } }))
    await run.outcome()
    const again = await askedBy(run)
    expect(again.digest).not.toBe(request.digest)
    expect([again.id, again.args, again.note]).toEqual([
      expect.stringMatching(/\/send#2$/),
      { to: 'Ada', copies: 1 },
      expect.stringContaining('copies'),
    ])
    await run.decide(approve(again, { value: { to: 'Bob', copies: 9 } }))
    expect(await run.outcome()).toMatchObject({ status: 'completed' })
    expect(sent).toEqual([{ to: 'Bob', copies: 9 }])
  })

  it('fails its node with the reason where somebody said no, and is not tried again', async () => {
    const retry = { attempts: 3, on: ['transient', 'timeout', 'unknown'] as const }
    const run = await start(planOf({ send: { ...SEND, retry } as PlanNode }))
    await run.decide(reject(await askedBy(run), 'too early', 'on Monday'))
    expect(await run.outcome()).toMatchObject({
      status: 'failed',
      error: {
        class: 'denied',
        code: 'approval_rejected',
        message: expect.stringMatching(/too early on Monday/),
      },
    })
    expect(sent).toEqual([])
  })

  it('takes as long as a person takes: its own timeout does not run', async () => {
    const run = await start(planOf({ send: { ...SEND, timeoutMs: 40 } as PlanNode }))
    await new Promise((resolve) => setTimeout(resolve, 120))
    await run.decide(approve(await askedBy(run)))
    expect(await run.outcome()).toMatchObject({ status: 'completed' })
    const slow = { approve: (request: { digest: string }) => agreeLate(request) }
    const waited = await start(
      planOf({ send: { ...SEND, timeoutMs: 40 } as PlanNode }),
      await inProcess({}, { approver: slow }),
      's',
    )
    expect(await waited.outcome()).toMatchObject({ status: 'completed' })
  })

  it('is not asked for where it could not be made', async () => {
    const run = await start(planOf({ send: { ...SEND, input: { to: 5 } } as PlanNode }))
    expect(await openOf(run)).toEqual([])
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'invalid_arguments' } })
    const grants = [{ ...APPROVE, only: { '/to': ['Eve'] } }]
    const other = await start(planOf({ send: SEND }, { grants }), undefined, 's')
    expect(await other.outcome()).toMatchObject({ status: 'failed', error: { code: 'denied' } })
  })

  it('covers the attempts that the plan allows of exactly this call, and asks nobody again', async () => {
    failing = [new CaissonError('rate_limited', 'later')]
    const retry = { attempts: 2, on: ['rate-limited'], delayMs: 1 }
    const run = await start(planOf({ send: { ...SEND, retry } as PlanNode }))
    await run.decide(approve(await askedBy(run)))
    expect(await run.outcome()).toMatchObject({ status: 'completed' })
    expect(sent).toHaveLength(1)
  })

  it('is asked for where the grant says nothing and the capability demands it', async () => {
    const demanding = await inProcess({ approve: { when: ({ copies }: { copies: number }) => copies > 5 } })
    const grants = ['mail.send']
    expect(await (await start(planOf({ send: SEND }, { grants }), demanding)).outcome()).toMatchObject({
      status: 'completed',
    })
    const many = { ...SEND, input: { to: 'Ada', copies: 6 } } as PlanNode
    expect(await openOf(await start(planOf({ send: many }, { grants }), demanding, 's'))).toHaveLength(1)
  })

  it('that undoes something is asked for too', async () => {
    const grants = ['mail.send', { capability: 'mail.unsend', approve: true }]
    const undo = { kind: 'call', capability: 'mail.unsend', input: { to: 'Ada', copies: 1 } } as const
    const nodes = {
      first: { ...SEND, compensate: undo } as PlanNode,
      second: { ...SEND, after: ['first'] } as PlanNode,
    }
    const stop: PlanNode = { kind: 'approval', question: 'Go on?', after: ['second'] }
    const run = await start(planOf({ ...nodes, stop }, { grants }))
    await run.decide(reject(await askedBy(run)))
    await run.outcome()
    expect(sent).toHaveLength(2)
    const asked = await askedBy(run)
    expect(asked).toMatchObject({ node: 'first#undo', action: 'mail.unsend' })
    await run.decide(approve(asked))
    expect(await run.outcome()).toMatchObject({ status: 'compensated', left: [] })
    expect(sent).toHaveLength(3)
  })
})

async function agreeLate({ digest }: { digest: string }): Promise<object> {
  await new Promise((resolve) => setTimeout(resolve, 120))
  return { decision: 'approved', digest }
}

describe('a decision', () => {
  const two = planOf({ a: SEND, b: SEND })

  it('needs the request that it is over: one bare answer decides nothing where two are open', async () => {
    const run = await start(two)
    expect(await openOf(run)).toHaveLength(2)
    const bare = { by: 'bob', decision: 'approve' } as never
    expect(await codeOf(run.decide(bare))).toBe('invalid_argument')
    expect(sent).toEqual([])
  })

  it('over one of several that show the same lets only that one go on', async () => {
    const run = await start(two)
    const [a, b] = (await openOf(run)) as [OpenRequest, OpenRequest]
    expect(a.digest).not.toBe(b.digest)
    await run.decide(approve(a))
    await run.outcome()
    expect(sent).toHaveLength(1)
    expect(await openOf(run)).toMatchObject([{ digest: b.digest, node: 'b' }])
    await run.decide(approve(b))
    expect(await run.outcome()).toMatchObject({ status: 'completed' })
  })

  it('that is forged, replayed or of another run executes nothing, and of several together none counts', async () => {
    const run = await start(two)
    const other = await start(two, undefined, 'other')
    const [a, b] = (await openOf(run)) as [OpenRequest, OpenRequest]
    const [foreign] = (await openOf(other)) as [OpenRequest]
    const forged = { ...a, digest: `sha256:${'0'.repeat(64)}` as Digest }
    for (const decisions of [[forged], [foreign], [a, forged], [a, a]])
      expect(await codeOf(run.decide(decisions.map((one) => approve(one))))).toBe('approval_mismatch')
    expect(sent).toEqual([])
    await run.decide(approve(a))
    await run.outcome()
    expect(await codeOf(run.decide(approve(a)))).toBe('approval_mismatch')
    expect(sent).toHaveLength(1)
    expect(await openOf(run)).toMatchObject([{ digest: b.digest }])
  })

  it('is taken back until it is used', async () => {
    const request = await askedBy(await start(planOf({ send: SEND })))
    const run = await (await inProcess()).planRun('r')
    await run.decide(approve(request))
    await run.decide({ request: request.digest, by: 'bob', decision: 'withdraw' })
    const third = await (await inProcess()).planRun('r')
    await third.resume({ by: 'ann', unseen: true })
    expect(await third.outcome()).toMatchObject({ status: 'waiting' })
    expect(sent).toEqual([])
    await third.decide(approve(request))
    expect(await third.outcome()).toMatchObject({ status: 'completed' })
    const late = third.decide({ request: request.digest, by: 'bob', decision: 'withdraw' })
    expect(await codeOf(late)).toMatch(/approval_mismatch|invalid_transition/)
    expect(sent).toHaveLength(1)
  })

  it('after the time of an approval is none: the node has failed', async () => {
    const plan = planOf({
      ask: { kind: 'approval', question: 'Well?', expiresMs: 40 },
      send: { ...SEND, after: ['ask'] } as PlanNode,
    })
    const run = await (await inProcess()).propose(plan, { by: 'model', run: 'r' })
    await run.approve({ by: 'ann', digest: (await run.view()).request })
    await run.start({ by: 'ann' })
    await run.outcome()
    const request = await askedBy(run)
    await new Promise((resolve) => setTimeout(resolve, 80))
    expect(await codeOf(run.decide(approve(request)))).toBe('approval_expired')
    await run.resume({ by: 'ann', unseen: true })
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'approval_expired' } })
    expect(sent).toEqual([])
  })
})

describe('a host whose clock was set back', () => {
  afterEach(() => vi.restoreAllMocks())

  it('does not let anybody decide over what has expired in the time of the journal', async () => {
    const plan = planOf({
      ask: { kind: 'approval', question: 'Well?', expiresMs: 40 },
      send: { ...SEND, after: ['ask'] } as PlanNode,
      other: { kind: 'wait', event: 'happened', expiresMs: 30 },
      late: { kind: 'wait', event: 'later' },
    })
    const run = await start(plan)
    const request = await askedBy(run)
    await new Promise((resolve) => setTimeout(resolve, 80))
    // Who does not drive the run writes down that it is later, and nothing else.
    await (await (await inProcess()).planRun('r')).send('later', 1, { by: 'bob' })
    const now = Date.now
    vi.spyOn(Date, 'now').mockImplementation(() => now() - 3_600_000)
    const behind = await (await inProcess()).planRun('r')
    expect(await codeOf(behind.decide(approve(request)))).toBe('approval_expired')
    expect(await codeOf(behind.send('happened', 1, { by: 'bob' }))).toBe('unknown_event')
    await behind.resume({ by: 'ann', unseen: true })
    // Who drives it finds that it is over, and does not wait for an hour.
    expect(await behind.outcome()).toMatchObject({ status: 'failed', error: { code: 'approval_expired' } })
    expect(sent).toEqual([])
  })
})

describe('a program whose calls people decide over', () => {
  const program = (source: string): Plan =>
    planOf({ main: { kind: 'program', source, grants: [APPROVE] } }, { output: { $from: 'main' } })
  const three = program(
    "return (await Promise.allSettled(['a', 'b', 'c'].map((to) => mail.send({ to, copies: 1 })))).map(({ status }) => status)",
  )

  it('is parked, and told one by one or together, across processes', async () => {
    const first = await start(three)
    const requests = (await openOf(first)) as [OpenRequest, OpenRequest, OpenRequest]
    expect(requests).toMatchObject([
      {
        node: 'main',
        run: 'r',
        id: expect.stringMatching(/\/main#1$/),
        args: { to: 'a' },
        plan: first.digest,
      },
      { id: expect.stringMatching(/\/main#2$/), args: { to: 'b' } },
      { id: expect.stringMatching(/\/main#3$/), args: { to: 'c' } },
    ])
    const run = await (await inProcess()).planRun('r')
    await run.resume({ by: 'ann' })
    await run.decide(approve(requests[1]))
    await run.outcome()
    expect(sent).toEqual([{ to: 'b', copies: 1 }])
    expect(await openOf(run)).toMatchObject([{ digest: requests[0].digest }, { digest: requests[2].digest }])
    await run.decide([reject(requests[0]), approve(requests[2], { value: { to: 'z', copies: 2 } })])
    expect(await run.outcome()).toMatchObject({ output: ['rejected', 'fulfilled', 'fulfilled'] })
    expect(sent).toEqual([
      { to: 'b', copies: 1 },
      { to: 'z', copies: 2 },
    ])
  })

  it('hears reason and comment', async () => {
    const run = await start(
      program("try { await mail.send({ to: 'a', copies: 1 }) } catch ({ details }) { return details }"),
    )
    await run.decide(reject(await askedBy(run), 'too early', 'on Monday'))
    expect(await run.outcome()).toMatchObject({
      output: { by: 'bob', reason: 'too early', comment: 'on Monday' },
    })
  })

  it('goes on for a timer of its own while people think', async () => {
    const later = "new Promise((r) => setTimeout(r, 1_050)).then(() => mail.send({ to: 'b', copies: 1 }))"
    const run = await start(
      program(`return (await Promise.all([mail.send({ to: 'a', copies: 1 }), ${later}])).length`),
    )
    expect(await openOf(run)).toMatchObject([
      { id: expect.stringMatching(/\/main#1$/), args: { to: 'a' } },
      { id: expect.stringMatching(/\/main#2$/), args: { to: 'b' } },
    ])
    expect(sent).toEqual([])
  })

  it('is asked again where what somebody wrote cannot be taken', async () => {
    const run = await start(program("return await mail.send({ to: 'a', copies: 1 })"))
    const request = await askedBy(run)
    await run.decide(approve(request, { value: { to: 'a', copies: 99 } }))
    await run.outcome()
    const again = await askedBy(run)
    expect(again.note).toContain('copies')
    expect(again.id).not.toBe(request.id)
    await run.decide(approve(again))
    expect(await run.outcome()).toMatchObject({ output: { number: 1 } })
  })
})

describe('a fallback that asks', () => {
  const plan = planOf(
    { send: { ...SEND, fallback: [{ on: ['transient'], ask: 'What would it have said?' }] } as PlanNode },
    { grants: ['mail.send'], output: { $from: 'send' } },
  )

  it('takes what a person gives in the place of the output', async () => {
    failing = [new CaissonError('network_failed', 'gone')]
    const run = await start(plan)
    const request = await askedBy(run)
    expect(request).toMatchObject({ kind: 'value', question: 'What would it have said?', node: 'send' })
    expect(await codeOf(run.decide(approve(request)))).toBe('invalid_argument')
    await run.decide(approve(request, { value: { number: 7 } }))
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: { number: 7 } })
  })

  it('fails the node as it failed where nobody gives anything', async () => {
    failing = [new CaissonError('network_failed', 'gone')]
    const run = await start(plan)
    await run.decide(reject(await askedBy(run), 'I do not know'))
    expect(await run.outcome()).toMatchObject({
      status: 'failed',
      error: { class: 'transient', code: 'network_failed', message: expect.stringContaining('do not know') },
    })
  })
})

describe('a fallback to what an earlier run gave', () => {
  const plan = (mostAgeMs: number, more: object = {}): Plan =>
    planOf(
      {
        send: {
          ...SEND,
          fallback: [{ on: ['transient'], cached: { mostAgeMs } }, { value: 'nothing' }],
          ...more,
        } as PlanNode,
      },
      { grants: ['mail.send'], output: { $from: 'send' } },
    )
  const HOUR_MS = 3_600_000

  /** What comes out of a run whose call fails. */
  async function outputWithoutMail(document: Plan, name: string): Promise<unknown> {
    failing = [new CaissonError('network_failed', 'gone')]
    const outcome = await (await start(document, undefined, name)).outcome()
    failing = []
    return outcome.status === 'completed' ? outcome.output : outcome
  }

  it('takes it from the newest run that completed, and says how old it is', async () => {
    await start(plan(HOUR_MS), undefined, 'first')
    await start(plan(HOUR_MS), undefined, 'second')
    expect(await outputWithoutMail(plan(HOUR_MS), 'third')).toEqual({ number: 2 })
    const third = await (await inProcess()).planRun('third')
    const seen: unknown[] = []
    for await (const { event } of third.events({ types: ['node_recovered'], until: 'now' })) seen.push(event)
    expect(seen).toMatchObject([{ fallback: 0, ageMs: expect.any(Number) }])
  })

  it('takes none that is too old, of another input or action, or that stood in itself', async () => {
    await start(plan(HOUR_MS), undefined, 'first')
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(await outputWithoutMail(plan(1), 'old')).toBe('nothing')
    const other = { input: { to: 'Eve', copies: 1 } }
    expect(await outputWithoutMail(plan(HOUR_MS, other), 'input')).toBe('nothing')
    expect(await outputWithoutMail({ ...plan(HOUR_MS), name: 'other' }, 'plan')).toBe('nothing')
    expect(await outputWithoutMail(plan(HOUR_MS), 'good')).toEqual({ number: 1 })
    store = createMemoryRunStore()
    await outputWithoutMail(plan(HOUR_MS), 'stood-in')
    expect(await outputWithoutMail(plan(HOUR_MS), 'again')).toBe('nothing')
  })
})

describe('a run whose process dies', () => {
  const plan = planOf(
    {
      one: SEND,
      main: {
        kind: 'program',
        source: "return [await mail.send({ to: 'p', copies: 1 }), await mail.send({ to: 'q', copies: 1 })]",
        grants: [APPROVE],
        after: ['one'],
      },
    },
    { output: { $from: 'main' } },
  )

  /** People who decide over everything, each with two copies in place of one, and know what was sent. */
  async function goOn(run: PlanRun): Promise<void> {
    for (let rounds = 0; rounds < 20; rounds += 1) {
      const { status } = await run.view()
      if (status === 'proposed') await run.approve({ by: 'ann', digest: (await run.view()).request })
      if (status === 'proposed' || status === 'approved') await run.start({ by: 'ann' })
      else {
        for (const request of await openOf(run)) {
          const value = { ...(request.args as object), copies: 2 }
          await run.decide(approve(request, { value }))
        }
        if ((await run.outcome()).status === 'completed') return
        const answers = (await run.doubts()).map(({ node, call, args }) => {
          const { to } = args as { to: string }
          const number = sent.findIndex((one) => (one as { to: string }).to === to) + 1
          const happened =
            number > 0 ? { happened: true as const, value: { number } } : { happened: false as const }
          return { node, call, by: 'bob', ...happened }
        })
        await run.resume({ by: 'ann', unseen: true, answers })
      }
      if ((await run.outcome()).status === 'completed') return
    }
    throw new Error('It does not end.')
  }

  it('after any write sends what was decided, once, and asks nobody twice over what was used', async () => {
    for (let writes = 2; ; writes += 3) {
      sent = []
      store = createMemoryRunStore()
      const life = { left: writes }
      const dies = await inProcess({}, { store: dying(store, life), leaseMs: 100 })
      try {
        await goOn(await dies.propose(plan, { by: 'model', run: 'r' }))
      } catch (error) {
        if (!CaissonError.is(error)) throw error
      }
      const lived = life.left >= 0
      const next = await inProcess()
      const run = await next.planRun('r').catch(() => undefined)
      // It died before it was proposed.
      if (run === undefined) continue
      if (!lived) await goOn(run)
      expect(await run.outcome()).toMatchObject({ output: [{ number: 2 }, { number: 3 }] })
      expect(sent).toEqual(['Ada', 'p', 'q'].map((to) => ({ to, copies: 2 })))
      if (lived) return
    }
  })
})

/** A store that takes so many writes. */
function dying(real: typeof store, life: { left: number }): typeof store {
  const spend = (): void => {
    life.left -= 1
    if (life.left < 0) throw new CaissonError('store_failed', 'The process died.')
  }
  return {
    putBlob: (id, bytes) => real.putBlob(id, bytes),
    getBlob: (id) => real.getBlob(id),
    head: (run) => real.head(run),
    setHead: async (run, head, lease) => {
      spend()
      await real.setHead(run, head, lease)
    },
    append: async (run, at, entries, lease) => {
      spend()
      await real.append(run, at, entries, lease)
    },
    entries: (run, from, most) => real.entries(run, from, most),
    lease: (run, ttlMs) => real.lease(run, ttlMs),
    runs: () => real.runs(),
    remove: (run, lease) => real.remove(run, lease),
    collect: (options) => real.collect(options),
    close: () => real.close(),
  }
}
