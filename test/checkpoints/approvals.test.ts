/** Kept runs whose calls people decide over: nobody waits for them, and nothing is held meanwhile. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import type { Digest } from '../../src/base/digest.ts'
import type { AskedRequest } from '../../src/capability/approvals.ts'
import type { Capability } from '../../src/capability/capability.ts'
import { checkCapability } from '../../src/capability/define-capability.ts'
import { CaissonError, capability, type Grant, openRuntime, type Runtime } from '../../src/entry/node.ts'
import type { ResumeOptions } from '../../src/runtime/options.ts'
import type { Outcome } from '../../src/runtime/outcome.ts'

/** What was paid. */
let paid: unknown[] = []
let store = createMemoryRunStore()
const opened: Runtime[] = []

beforeEach(() => {
  paid = []
  store = createMemoryRunStore()
})
afterEach(async () => {
  await Promise.all(opened.splice(0).map((runtime) => runtime.close()))
})

const pay = (more: object = {}): Capability =>
  checkCapability({
    name: 'bank.pay',
    description: 'Pays',
    effect: 'destructive',
    input: z.object({ to: z.string(), cents: z.number().max(1_000) }),
    invoke: async (input: unknown) => {
      paid.push(input)
      return `paid ${JSON.stringify(input)}`
    },
    ...more,
  } as Capability)

const look = capability({
  name: 'bank.look',
  description: 'Looks',
  effect: 'read',
  invoke: async () => 'seen',
})

const GRANTS: readonly Grant[] = [{ capability: 'bank.pay', approve: true, calls: 5 }, 'bank.look']

/** Another process. */
async function process_(more: object = {}): Promise<Runtime> {
  const runtime = await openRuntime({ capabilities: [pay(more), look], store })
  opened.push(runtime)
  return runtime
}

async function begin(source: string, more: object = {}, grants = GRANTS): Promise<Outcome> {
  return (await process_(more)).run(source, { run: 'r', grants, limits: { wallMs: 10_000 } })
}

async function resume(options: ResumeOptions = {}, more: object = {}): Promise<Outcome> {
  return (await process_(more)).resume('r', { grants: GRANTS, ...options })
}

function asked(outcome: Outcome): readonly AskedRequest[] {
  if (outcome.status !== 'suspended') throw new Error(`It is ${outcome.status}.`)
  return outcome.pending.flatMap(({ approval }) => (approval === undefined ? [] : [approval]))
}

/** The only request. */
function theAsked(outcome: Outcome): AskedRequest {
  const [only, ...more] = asked(outcome)
  if (only === undefined || more.length > 0) throw new Error(`It asks for ${more.length} more.`)
  return only
}

async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'nothing was thrown',
    (error: unknown) => (CaissonError.is(error) ? error.code : error),
  )
}

const PAY = "return await bank.pay({ to: 'Ada', cents: 5 })"
const approve = (request: Digest, value?: unknown) =>
  ({ request, by: 'bob', decision: 'approve', ...(value !== undefined && { value }) }) as const

describe('a kept run', () => {
  it('is suspended before a call that a person decides over, and says all of what it asks', async () => {
    const outcome = await begin(`await bank.look(); ${PAY}`)
    expect(outcome).toMatchObject({
      status: 'suspended',
      resumable: true,
      pending: [
        {
          capability: 'bank.pay',
          approval: {
            run: 'r',
            action: 'bank.pay',
            effect: 'destructive',
            args: { to: 'Ada', cents: 5 },
            policy: { approve: true, calls: 5 },
            tool: expect.stringMatching(/^sha256:/),
            digest: expect.stringMatching(/^sha256:/),
          },
        },
      ],
      inDoubt: [],
    })
    expect(paid).toEqual([])
  })

  it('makes exactly the approved call, in another process, and what ran before it not again', async () => {
    const request = theAsked(await begin(`const seen = await bank.look(); ${PAY} + seen`))
    const outcome = await resume({ decisions: [approve(request.digest)] })
    expect(outcome).toMatchObject({ status: 'completed', value: 'paid {"to":"Ada","cents":5}seen' })
    expect(paid).toEqual([{ to: 'Ada', cents: 5 }])
  })

  it('goes on waiting where nobody decided, however often it is resumed, and asks the same', async () => {
    const first = theAsked(await begin(PAY))
    const again = theAsked(await resume())
    const third = theAsked(await resume())
    expect([again.digest, third.digest]).toEqual([first.digest, first.digest])
    expect(paid).toEqual([])
  })

  it('hears the reason and the comment of who said no, and goes on', async () => {
    const request = theAsked(
      await begin(`try { ${PAY} } catch ({ code, message, details }) { return { code, message, details } }`),
    )
    const outcome = await resume({
      decisions: [
        { request: request.digest, by: 'bob', decision: 'reject', reason: 'too much', comment: 'try 2' },
      ],
    })
    expect(outcome).toMatchObject({
      status: 'completed',
      value: {
        code: 'approval_rejected',
        message: 'This call of "bank.pay" was not approved: too much try 2',
        details: { by: 'bob', reason: 'too much', comment: 'try 2' },
      },
    })
    expect(paid).toEqual([])
  })

  it('makes the call as somebody changed it', async () => {
    const request = theAsked(await begin(PAY))
    await resume({ decisions: [approve(request.digest, { to: 'Ada', cents: 4 })] })
    expect(paid).toEqual([{ to: 'Ada', cents: 4 }])
  })

  it('takes no change that the call could not have been, and stays as it was', async () => {
    const request = theAsked(await begin(PAY))
    for (const value of [{ to: 'Ada', cents: 1_001 }, { to: 'Ada' }, 5, { to: 'Ada', cents: 4, more: 1 }])
      expect(await codeOf(resume({ decisions: [approve(request.digest, value)] }))).toBe('invalid_arguments')
    expect(paid).toEqual([])
    expect(asked(await resume())).toHaveLength(1)
  })

  it('that asks for several things is told one by one, or together', async () => {
    const three =
      "return (await Promise.allSettled(['a', 'b', 'c'].map((to) => bank.pay({ to, cents: 1 })))).map(({ status }) => status)"
    const [a, b, c] = asked(await begin(three)) as [AskedRequest, AskedRequest, AskedRequest]
    expect([a, b, c].map(({ args }) => args)).toMatchObject([{ to: 'a' }, { to: 'b' }, { to: 'c' }])
    const left = asked(await resume({ decisions: [approve(b.digest)] }))
    expect(left.map(({ digest }) => digest)).toEqual([a.digest, c.digest])
    expect(paid).toEqual([{ to: 'b', cents: 1 }])
    const outcome = await resume({
      decisions: [approve(c.digest), { request: a.digest, by: 'bob', decision: 'reject', reason: 'no' }],
    })
    expect(outcome).toMatchObject({ value: ['rejected', 'fulfilled', 'fulfilled'] })
    expect(paid).toEqual([
      { to: 'b', cents: 1 },
      { to: 'c', cents: 1 },
    ])
  })

  it('uses up no active time while people think, and hits no limit by it', async () => {
    const request = theAsked(await begin(PAY, { timeoutMs: 50 }))
    await new Promise((resolve) => setTimeout(resolve, 300))
    const outcome = await resume({ decisions: [approve(request.digest)] }, { timeoutMs: 50 })
    expect(outcome.status).toBe('completed')
    expect(outcome.usage.wallMs).toBeLessThan(5_000)
    expect(outcome.usage.calls).toBe(1)
  })

  it('asks for as many things at once as calls may be made at once, and for the others afterwards', async () => {
    const many =
      "return (await Promise.all([...Array(9).keys()].map((i) => bank.pay({ to: 'p' + i, cents: 1 })))).length"
    const runtime = await process_()
    const grants = [{ capability: 'bank.pay', approve: true }]
    const first = await runtime.run(many, { run: 'r', grants, limits: { concurrentCalls: 4 } })
    expect(first).toMatchObject({ status: 'suspended' })
    let requests = asked(first)
    expect(requests).toHaveLength(4)
    for (const length of [4, 1, 0]) {
      const outcome = await resume({ grants, decisions: requests.map(({ digest }) => approve(digest)) })
      if (length === 0) expect(outcome).toMatchObject({ status: 'completed', value: 9 })
      else requests = asked(outcome)
      if (length > 0) expect(requests).toHaveLength(length)
    }
  })

  it('is suspended also where a timer of its own is far off, and wakes for it', async () => {
    const race =
      "return await Promise.race([bank.pay({ to: 'Ada', cents: 5 }), new Promise((r) => setTimeout(r, 3_600_000, 'late'))])"
    const outcome = await begin(race)
    expect(asked(outcome)).toHaveLength(1)
    expect(outcome).toMatchObject({ wakeAtMs: expect.any(Number) })
  })

  it('repeats as it went, with nobody asked', async () => {
    const request = theAsked(await begin(PAY))
    await resume({ decisions: [approve(request.digest)] })
    const repeated = await (await process_()).repeat('r', { grants: GRANTS })
    expect(repeated).toMatchObject({ status: 'completed', value: 'paid {"to":"Ada","cents":5}' })
    expect(paid).toHaveLength(1)
  })
})

describe('a decision over a call of a kept run', () => {
  it('that is forged, of other arguments, or of another run executes nothing', async () => {
    const request = theAsked(await begin(PAY))
    const runtime = await process_()
    const other = theAsked(await runtime.run(PAY, { run: 'other', grants: GRANTS }))
    const forged = `sha256:${'0'.repeat(64)}` as Digest
    for (const digest of [forged, other.digest])
      expect(await codeOf(resume({ decisions: [approve(digest)] }))).toBe('approval_mismatch')
    expect(await codeOf(resume({ decisions: [approve(request.digest), approve(forged)] }))).toBe(
      'approval_mismatch',
    )
    expect(paid).toEqual([])
    expect(asked(await resume())).toHaveLength(1)
  })

  it('counts once: replayed it is refused, while the run goes on and after it has ended', async () => {
    const twice = `const a = ${PAY.slice('return '.length)}; return a + ${PAY.slice('return '.length)}`
    const first = theAsked(await begin(twice))
    const second = theAsked(await resume({ decisions: [approve(first.digest)] }))
    expect(second.digest).not.toBe(first.digest)
    expect(await codeOf(resume({ decisions: [approve(first.digest)] }))).toBe('approval_mismatch')
    expect(paid).toHaveLength(1)
    await resume({ decisions: [approve(second.digest)] })
    expect(await codeOf(resume({ decisions: [approve(second.digest)] }))).toBe('approval_mismatch')
    expect(paid).toHaveLength(2)
  })

  it('is void where the rule, or the words of the tool, are others since', async () => {
    const request = theAsked(await begin(PAY))
    const decisions = [approve(request.digest)]
    const grants = [{ capability: 'bank.pay', approve: true, calls: 500 }, 'bank.look']
    expect(await codeOf(resume({ decisions, grants }))).toBe('approval_mismatch')
    expect(await codeOf(resume({ decisions }, { description: 'Pays twice' }))).toBe('approval_mismatch')
    expect(paid).toEqual([])
    const anew = theAsked(await resume({}, { description: 'Pays twice' }))
    expect(anew.digest).not.toBe(request.digest)
  })

  it('twice at once wins once', async () => {
    const request = theAsked(await begin(PAY))
    const decisions = [approve(request.digest)]
    const codes = await Promise.all([codeOf(resume({ decisions })), codeOf(resume({ decisions }))])
    expect(codes.filter((code) => code === 'nothing was thrown')).toHaveLength(1)
    expect(paid).toHaveLength(1)
  })

  it('is needed also where a grant says nothing, if the capability or the host demands it', async () => {
    const grants = ['bank.pay']
    const above = { cost: ({ cents }: { cents: number }) => ({ cents }), approve: { above: { cents: 4 } } }
    expect(asked(await begin(PAY, above, grants))).toHaveLength(1)
    const runtime = await openRuntime({ capabilities: [pay()], store, approveEffects: ['destructive'] })
    opened.push(runtime)
    expect(asked(await runtime.run(PAY, { run: 'by-effect', grants }))).toHaveLength(1)
    expect(paid).toEqual([])
  })

  it('after the time of the request is none, and the call is refused', async () => {
    const demand = { approve: { expiresMs: 1_500 } }
    const caught = `try { ${PAY} } catch ({ code }) { return code }`
    const request = theAsked(await begin(caught, demand))
    await new Promise((resolve) => setTimeout(resolve, 1_600))
    const late = resume({ decisions: [approve(request.digest)] }, demand)
    expect(await codeOf(late)).toBe('approval_expired')
    expect(await resume({}, demand)).toMatchObject({ status: 'completed', value: 'approval_expired' })
    expect(paid).toEqual([])
  })
})
