/** Calls that people decide over, where the gate does not wait for them. */
import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import type { Digest } from '../../base/digest.ts'
import type { Approvals, AskedRequest } from '../approvals.ts'
import type { Delivery } from '../delivery.ts'
import { codeOf, MemoryLog, pendingCall, testGate, tool } from '../gate.testkit.ts'
import type { PersonDecision } from '../person-request.ts'

/** What was decided so far. */
class Desk implements Approvals {
  readonly decisions = new Map<Digest, PersonDecision>()
  readonly about: Approvals['about'] = ({ id }) => ({ id: `r#${id}`, run: 'r', node: '' })
  readonly decided = (request: Digest): PersonDecision | undefined => this.decisions.get(request)

  decide(decision: PersonDecision): void {
    this.decisions.set(decision.request, decision)
  }
}

const APPROVED = [{ capability: 'a.tool', approve: true, calls: 2 }]

function gateWith(more: object = {}, grants: Parameters<typeof testGate>[1] = APPROVED) {
  const desk = new Desk()
  const invoke = vi.fn((input: unknown) => input)
  const callLog = new MemoryLog()
  const test = testGate([tool(invoke, more)], grants, { approvals: desk, callLog })
  const again = (args?: unknown, id = 1): Promise<Delivery> =>
    test.gate.call(pendingCall(id, 'a.tool', args), test.stop)
  return { ...test, desk, invoke, callLog, again }
}

async function askedBy(call: Promise<Delivery>): Promise<AskedRequest> {
  const { asked } = await call
  if (asked === undefined) throw new Error('Nobody was asked.')
  return asked
}

describe('a call that a person has to decide over', () => {
  it('says all that it is, and nothing happens or is counted before it is decided', async () => {
    const { again, invoke, callLog, ledger } = gateWith({ effect: 'write' })
    expect(await askedBy(again({ to: 'Ada' }))).toMatchObject({
      id: 'r#1',
      run: 'r',
      kind: 'call',
      action: 'a.tool',
      effect: 'write',
      args: { to: 'Ada' },
      policy: { approve: true, calls: 2 },
      tool: expect.stringMatching(/^sha256:/),
      digest: expect.stringMatching(/^sha256:/),
    })
    expect(invoke).not.toHaveBeenCalled()
    expect(callLog.entries).toEqual([])
    expect(ledger.snapshot(0).accounts['a.tool']?.calls).toBe(0)
  })

  it('is made with exactly what was shown once it is approved, and says on record who let it pass', async () => {
    const { again, invoke, callLog, desk } = gateWith()
    const { digest } = await askedBy(again({ to: 'Ada' }))
    desk.decide({ request: digest, by: 'bob', comment: 'fine', decision: 'approve' })
    expect(codeOf(await again({ to: 'Ada' }))).toBe('ok')
    expect(invoke.mock.calls[0]?.[0]).toEqual({ to: 'Ada' })
    expect(callLog.intents[0]).toMatchObject({
      approved: true,
      decision: { request: digest, by: 'bob', comment: 'fine', edited: false },
    })
  })

  it('is asked for again where anything of it is another: arguments, call, rule or words of the tool', async () => {
    const first = gateWith()
    const { digest } = await askedBy(first.again({ to: 'Ada' }))
    const decision = { request: digest, by: 'bob', decision: 'approve' } as const
    first.desk.decide(decision)
    expect((await first.again({ to: 'Eve' })).asked?.digest).not.toBe(digest)
    expect((await first.again({ to: 'Ada' }, 2)).asked?.digest).not.toBe(digest)
    const others = [
      gateWith({ description: 'something else' }),
      gateWith({ effect: 'destructive' }),
      gateWith({}, [{ capability: 'a.tool', approve: true, calls: 3 }]),
    ]
    for (const other of others) {
      other.desk.decide(decision)
      expect((await other.again({ to: 'Ada' })).asked).toBeDefined()
      expect(other.invoke).not.toHaveBeenCalled()
    }
  })

  it('is refused with the reason and the comment where somebody said no', async () => {
    const { again, desk, invoke } = gateWith()
    const { digest } = await askedBy(again(1))
    desk.decide({ request: digest, by: 'bob', reason: 'too much', comment: 'half of it', decision: 'reject' })
    const { answer } = await again(1)
    expect(answer).toMatchObject({
      error: { code: 'approval_rejected', details: { by: 'bob', reason: 'too much', comment: 'half of it' } },
    })
    expect(invoke).not.toHaveBeenCalled()
  })

  it('is made as somebody changed it, if that passes what the call had to pass', async () => {
    const input = z.object({ to: z.string(), copies: z.number().max(9).default(1) })
    const constrain = ({ to }: { to: string }): true | string => (to === 'Eve' ? 'not to her' : true)
    const { again, desk, invoke, gate, stop } = gateWith({ input }, [
      { capability: 'a.tool', approve: true, constrain: constrain as never },
    ])
    const { digest, args } = await askedBy(again({ to: 'Ada' }))
    expect(args).toEqual({ to: 'Ada', copies: 1 })
    const edit = (value: unknown) => ({ request: digest, by: 'bob', decision: 'approve', value }) as const
    const codes: string[] = []
    for (const value of [{ to: 'Eve', copies: 1 }, { to: 'Ada', copies: 10 }, { to: 'Ada' }, () => 1]) {
      desk.decide(edit(value))
      codes.push(codeOf(await again({ to: 'Ada' })))
      expect(await gate.checkEdit(pendingCall(1, 'a.tool', { to: 'Ada' }), edit(value), stop)).toBeDefined()
    }
    expect(codes).toEqual(['denied', 'invalid_arguments', 'invalid_arguments', 'invalid_arguments'])
    expect(invoke).not.toHaveBeenCalled()
    desk.decide(edit({ to: 'Bob', copies: 2 }))
    expect(codeOf(await again({ to: 'Ada' }))).toBe('ok')
    expect(invoke.mock.calls[0]?.[0]).toEqual({ to: 'Bob', copies: 2 })
  })

  it('is refused before anybody is asked where it could not be made', async () => {
    const input = z.object({ to: z.string() })
    const { again, desk } = gateWith({ input }, [{ capability: 'a.tool', approve: true, calls: 1 }])
    expect(codeOf(await again(5))).toBe('invalid_arguments')
    const { digest } = await askedBy(again({ to: 'Ada' }))
    desk.decide({ request: digest, by: 'bob', decision: 'approve' })
    await again({ to: 'Ada' })
    const used = await again({ to: 'Ada' }, 2)
    expect([codeOf(used), used.asked]).toEqual(['budget_exhausted', undefined])
  })

  it('is worth nothing when the grant was taken back meanwhile', async () => {
    const { again, desk, grants, invoke } = gateWith()
    const { digest } = await askedBy(again(1))
    desk.decide({ request: digest, by: 'bob', decision: 'approve' })
    grants.revoke('a.tool')
    expect(codeOf(await again(1))).toBe('revoked')
    expect(invoke).not.toHaveBeenCalled()
  })

  it('is refused after its time, decided or not', async () => {
    const { again, desk, clock, invoke } = gateWith({ approve: { expiresMs: 500 } }, ['a.tool'])
    const { digest, expiresAtMs } = await askedBy(again(1))
    expect(expiresAtMs).toBe(1_500)
    desk.decide({ request: digest, by: 'bob', decision: 'approve' })
    clock.ms = 1_501
    expect(codeOf(await again(1))).toBe('approval_expired')
    expect(invoke).not.toHaveBeenCalled()
  })
})

describe('a capability', () => {
  const asks = async (more: object, args: unknown, effects: readonly ('read' | 'write')[] = []) => {
    const test = testGate([tool(() => 1, more)], ['a.tool'], {
      approvals: new Desk(),
      approveEffects: effects,
    })
    return (await test.call('a.tool', args)).asked !== undefined
  }

  it('can demand an approval for every call, by arguments, by cost, and the host by effect', async () => {
    expect(await asks({ approve: true }, 1)).toBe(true)
    const when = (input: number): boolean => input > 5
    expect(await asks({ approve: { when } }, 5)).toBe(false)
    expect(await asks({ approve: { when } }, 6)).toBe(true)
    const cents = { cost: (input: number) => ({ cents: input }), approve: { above: { cents: 5 } } }
    expect(await asks(cents, 5)).toBe(false)
    expect(await asks(cents, 6)).toBe(true)
    expect(await asks({ effect: 'write' }, 1, ['write'])).toBe(true)
    expect(await asks({}, 1, ['write'])).toBe(false)
  })

  it('whose demand throws, or says anything but no, demands one', async () => {
    for (const answer of [undefined, 0, 'no', Promise.resolve(false)])
      expect(await asks({ approve: { when: () => answer } }, 1)).toBe(true)
    const when = (): never => {
      throw new Error('x')
    }
    expect(await asks({ approve: { when } }, 1)).toBe(true)
  })

  it('that demands one is refused where nobody can be asked', async () => {
    expect(() => testGate([tool(() => 1, { approve: true })])).toThrow(/nobody else to ask/)
    const invoke = vi.fn()
    const { call } = testGate([tool(invoke, { approve: { when: () => true } })])
    expect(codeOf(await call('a.tool'))).toBe('approval_rejected')
    expect(invoke).not.toHaveBeenCalled()
  })

  it('cannot demand what makes no sense', () => {
    for (const approve of [false, {}, { if: 1 }, { when: 1 }, { above: { cents: 1 } }, { expiresMs: 0 }]) {
      if (JSON.stringify(approve) === '{}') continue
      expect(() => tool(() => 1, { approve })).toThrow(/approve/)
    }
    expect(() => tool(() => 1, { approve: true, sync: true })).toThrow(/sync/)
  })
})
