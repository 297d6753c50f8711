import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { CaissonError } from '../base/errors.ts'
import type { ApprovalRequest, Approver } from '../ports/approver.ts'
import type { Capability, InvokeContext } from './capability.ts'
import { capability, checkCapability } from './define-capability.ts'
import { MemoryLog, pendingCall, testGate } from './gate.testkit.ts'

function tool(invoke: (input: unknown, context: InvokeContext) => unknown, more: object = {}): Capability {
  return checkCapability({ name: 'a.tool', description: 'x', effect: 'read', invoke, ...more } as Capability)
}

function codeOf({ answer }: { answer: { ok: boolean } }): string {
  return answer.ok ? 'ok' : (answer as unknown as { error: { code: string } }).error.code
}

describe('the order of stages', () => {
  it('resolves, validates, authorises, reserves, records, invokes, records, delivers', async () => {
    const order: string[] = []
    const noting = <T>(note: string, value: T): T => {
      order.push(note)
      return value
    }
    const log = new MemoryLog()
    const { call } = testGate(
      [
        tool(
          () => {
            order.push(`invoke after ${log.entries.join()}`)
            return 1
          },
          {
            input: z.unknown().transform((value) => noting('validate', value)),
            output: z.unknown().transform((value) => noting(`output after ${log.entries.join()}`, value)),
            cost: () => noting('cost', {}),
          },
        ),
      ],
      [{ capability: 'a.tool', constrain: () => noting('constrain', true) }],
      { callLog: log, lease: { fencingToken: 1, held: () => noting('lease', true) } },
    )
    const delivery = await call('a.tool', 5)
    expect(delivery.answer).toEqual({ id: 1, ok: true, value: 1 })
    expect(order).toEqual([
      'validate',
      'constrain',
      'cost',
      'lease',
      'invoke after intent 1',
      'output after intent 1',
    ])
    expect(log.entries).toEqual(['intent 1', 'result 1 ok'])
  })

  it('refuses what is not granted or not there, and hints only at granted names', async () => {
    const other = checkCapability({ ...tool(() => 1), name: 'secret.tool' } as Capability)
    const { call } = testGate([tool(() => 1), other], ['a.tool'])
    expect(codeOf(await call('secret.tool'))).toBe('not_granted')
    const unknown = await call('a.toool')
    expect(unknown.answer).toMatchObject({
      error: { code: 'unknown_capability', message: expect.stringContaining('"a.tool"') },
    })
    expect(JSON.stringify(await call('secret.toool'))).not.toContain('secret.tool"')
    for (const name of ['__proto__', 'constructor', 'toString', '', 'x'.repeat(1e6)]) {
      const refused = await call(name)
      expect(codeOf(refused)).toBe('unknown_capability')
      expect(JSON.stringify(refused).length).toBeLessThan(1_000)
    }
  })
})

describe('validation', () => {
  it('applies defaults, coercions and transforms once, and everybody sees the final value', async () => {
    const log = new MemoryLog()
    const seen: unknown[] = []
    const { call } = testGate(
      [
        tool((input) => seen.push(input), {
          input: z.object({ n: z.coerce.number(), days: z.number().default(7) }),
          output: z.number(),
        }),
      ],
      [
        {
          capability: 'a.tool',
          constrain: (args: unknown) => {
            seen.push(args)
            return true
          },
        },
      ],
      { callLog: log },
    )
    expect(codeOf(await call('a.tool', { n: '5', extra: 1 }))).toBe('ok')
    const final = { n: 5, days: 7 }
    expect(seen).toEqual([final, final])
    expect(log.intents[0]?.args).toEqual(final)
    expect(Object.isFrozen(log.intents[0]?.args)).toBe(true)
  })

  it('refuses bad arguments with bounded issues, and invokes nothing', async () => {
    const invoke = vi.fn()
    const { call } = testGate([tool(invoke, { input: z.object({ sku: z.string() }) })])
    const refused = await call('a.tool', { sku: 5 })
    expect(refused.answer).toMatchObject({
      ok: false,
      error: { code: 'invalid_arguments', message: expect.stringMatching(/sku: .*string/) },
    })
    expect(invoke).not.toHaveBeenCalled()
  })

  it('awaits asynchronous schemas, for at most the timeout', async () => {
    const slow = z.string().refine(() => new Promise<boolean>(() => {}))
    const late = z.string().refine(async () => false)
    expect(codeOf(await testGate([tool(() => 1, { input: late })]).call('a.tool', 'x'))).toBe(
      'invalid_arguments',
    )
    const { call } = testGate([tool(() => 1, { input: slow, timeoutMs: 5 })])
    expect(codeOf(await call('a.tool', 'x'))).toBe('timeout')
  })

  it('holds results to the output schema, and tells only the host what was wrong', async () => {
    const { call, reports } = testGate([
      tool(() => ({ price: 'secret' }), { output: z.object({ price: z.number() }) }),
    ])
    const refused = await call('a.tool')
    expect(codeOf(refused)).toBe('invalid_result')
    expect(JSON.stringify(refused)).not.toContain('price')
    expect(reports).toMatchObject([{ code: 'invalid_result', cause: expect.stringContaining('price') }])
  })
})

describe('authorisation', () => {
  it('shows the reason of a constraint, and takes nothing but true for a yes', async () => {
    const answers: unknown[] = [
      true,
      'only on weekdays',
      false,
      1,
      undefined,
      Promise.resolve(true),
      new Error('x'),
    ]
    const { call } = testGate(
      [tool(() => 1)],
      [
        {
          capability: 'a.tool',
          constrain: () => {
            const answer = answers.shift()
            if (answer instanceof Error) throw answer
            return answer as true
          },
        },
      ],
    )
    const codes: string[] = []
    for (let i = 0; i < 7; i++) codes.push(codeOf(await call('a.tool')))
    expect(codes).toEqual(['ok', 'denied', 'denied', 'denied', 'denied', 'denied', 'denied'])
  })

  it('refuses a grant that was taken back, also while the call waited for its turn', async () => {
    let release: (value: number) => void = () => {}
    const { call, grants } = testGate(
      [tool(() => new Promise<number>((resolve) => (release = resolve)))],
      [{ capability: 'a.tool', concurrent: 1 }],
    )
    const first = call('a.tool')
    const second = call('a.tool')
    await new Promise((resolve) => setTimeout(resolve, 1))
    grants.revoke('a.tool')
    release(1)
    expect(codeOf(await first)).toBe('ok')
    expect(codeOf(await second)).toBe('revoked')
    expect(codeOf(await call('a.tool'))).toBe('revoked')
  })
})

describe('budgets', () => {
  it('count calls, bytes and cost, and a failure gives nothing back (invariant 3)', async () => {
    const { call, ledger } = testGate(
      [
        tool(
          () => {
            throw new Error('no')
          },
          { cost: () => ({ cents: 3 }) },
        ),
      ],
      [{ capability: 'a.tool', calls: 2, budgets: { cents: 100 } }],
    )
    const codes = [codeOf(await call('a.tool')), codeOf(await call('a.tool')), codeOf(await call('a.tool'))]
    expect(codes).toEqual(['capability_failed', 'capability_failed', 'budget_exhausted'])
    expect(ledger.snapshot(0).accounts['a.tool']).toMatchObject({ calls: 2, units: { cents: 6 } })
  })

  it.each([{ cents: Number.NaN }, { cents: -1 }, { cents: Number.POSITIVE_INFINITY }, 5, null, 'x'])(
    'refuse a call whose cost is %j',
    async (cost) => {
      const invoke = vi.fn()
      const { call } = testGate([tool(invoke, { cost: () => cost })])
      expect(codeOf(await call('a.tool'))).toBe('capability_failed')
      expect(invoke).not.toHaveBeenCalled()
    },
  )

  it('limit the rate and say when to come back', async () => {
    const { call, clock } = testGate(
      [tool(() => 1)],
      [{ capability: 'a.tool', rate: { calls: 1, perMs: 100 } }],
    )
    expect(codeOf(await call('a.tool'))).toBe('ok')
    clock.ms += 30
    expect((await call('a.tool')).answer).toMatchObject({
      error: { code: 'rate_limited', details: { retryAfterMs: 70 } },
    })
    clock.ms += 70
    expect(codeOf(await call('a.tool'))).toBe('ok')
  })

  it('limit result bytes', async () => {
    const { call } = testGate([tool(() => 'x'.repeat(60))], [{ capability: 'a.tool', bytesIn: 100 }])
    expect([codeOf(await call('a.tool')), codeOf(await call('a.tool'))]).toEqual(['ok', 'budget_exhausted'])
  })

  it('let `concurrent` calls work at once and the others wait in order', async () => {
    let working = 0
    let most = 0
    const order: unknown[] = []
    const { call } = testGate(
      [
        tool(async (n) => {
          order.push(n)
          most = Math.max(most, ++working)
          await new Promise((resolve) => setTimeout(resolve, 1))
          working -= 1
        }),
      ],
      [{ capability: 'a.tool', concurrent: 2 }],
    )
    await Promise.all([1, 2, 3, 4, 5].map((n) => call('a.tool', n)))
    expect(most).toBe(2)
    expect(order).toEqual([1, 2, 3, 4, 5])
  })
})

describe('approvals', () => {
  const approverOf = (decide: (request: ApprovalRequest) => unknown): Approver => ({
    approve: async (request) => decide(request) as never,
  })
  const approving = (decide: (request: ApprovalRequest) => unknown, invoke = vi.fn(() => 1)) => ({
    invoke,
    ...testGate([tool(invoke)], [{ capability: 'a.tool', approve: true }], {
      approver: approverOf(decide),
    }),
  })

  it('are needed before the effect and bound to its digest', async () => {
    const yes = approving(({ digest }) => ({ decision: 'approved', digest }))
    expect(codeOf(await yes.call('a.tool', { to: 'Ada' }))).toBe('ok')
    const digests = new Set<string>()
    const same = approving(({ digest }) => {
      digests.add(digest)
      return { decision: 'approved', digest }
    })
    for (const args of [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
      { a: 1, b: 3 },
    ])
      await same.call('a.tool', args)
    expect(digests.size).toBe(2)
    const forged = approving(() => ({ decision: 'approved', digest: 'of something else' }))
    expect(codeOf(await forged.call('a.tool'))).toBe('approval_rejected')
    expect(forged.invoke).not.toHaveBeenCalled()
  })

  it.each([
    { decision: 'rejected', reason: 'too much' },
    { decision: 'yes' },
    {},
    null,
    undefined,
    true,
    'approved',
  ])('that read %j execute nothing', async (decision) => {
    const { call, invoke } = approving(() => decision)
    expect(codeOf(await call('a.tool'))).toBe('approval_rejected')
    expect(invoke).not.toHaveBeenCalled()
  })

  it('that throw execute nothing', async () => {
    const { call, invoke, reports } = approving(() => {
      throw new Error('queue down')
    })
    expect(codeOf(await call('a.tool'))).toBe('approval_rejected')
    expect(invoke).not.toHaveBeenCalled()
    expect(reports).toHaveLength(1)
  })

  it('are worth nothing when the grant was taken back meanwhile', async () => {
    const test = approving(({ digest }) => {
      test.grants.revoke('a.tool')
      return { decision: 'approved', digest }
    })
    expect(codeOf(await test.call('a.tool'))).toBe('revoked')
    expect(test.invoke).not.toHaveBeenCalled()
  })

  it('need somebody to ask, which is said when the gate is made', () => {
    expect(() => testGate([tool(() => 1)], [{ capability: 'a.tool', approve: true }])).toThrow(/no approver/)
  })
})

describe('the record', () => {
  it('that cannot take the intent lets nothing happen, and ends the run (invariant 2)', async () => {
    for (const intent of [
      () => {
        throw new Error('disk full')
      },
      () => Promise.reject(new Error('disk full')),
    ]) {
      const invoke = vi.fn()
      const { call } = testGate([tool(invoke)], undefined, { callLog: { intent, result: () => {} } })
      const delivery = await call('a.tool')
      expect(codeOf(delivery)).toBe('not_recorded')
      expect(delivery.fatal).toBe(true)
      expect(JSON.stringify(delivery)).not.toContain('disk')
      expect(invoke).not.toHaveBeenCalled()
    }
  })

  it('that cannot take the result keeps the answer from the guest, and ends the run', async () => {
    const result = (): Promise<void> => Promise.reject(new Error('disk full'))
    const { call } = testGate([tool(() => 'value')], undefined, { callLog: { intent: () => {}, result } })
    const delivery = await call('a.tool')
    expect(delivery).toMatchObject({ fatal: true, answer: { ok: false, error: { code: 'not_recorded' } } })
  })

  it('has an intent and no result of a call that was at work at the stop (invariant 5)', async () => {
    const log = new MemoryLog()
    const { call, stop } = testGate([tool(() => new Promise(() => {}))], undefined, { callLog: log })
    const calling = call('a.tool')
    await new Promise((resolve) => setTimeout(resolve, 1))
    stop.stop()
    expect(codeOf(await calling)).toBe('aborted')
    expect(log.entries).toEqual(['intent 1'])
  })

  it('carries an idempotency key of guest and call, equal for every attempt', async () => {
    const log = new MemoryLog()
    const keys: string[] = []
    const { call } = testGate(
      [
        tool(
          (_, { idempotencyKey, attempt }) => {
            keys.push(idempotencyKey)
            if (attempt === 1) throw new CaissonError('network_failed', 'x')
            return 1
          },
          { retry: { attempts: 2, delayMs: () => 0 } },
        ),
      ],
      undefined,
      { callLog: log },
    )
    expect(codeOf(await call('a.tool'))).toBe('ok')
    expect(keys).toEqual(['guest-1/1', 'guest-1/1'])
    expect(log.entries).toEqual(['intent 1', 'result 1 ok'])
    expect(log.intents[0]?.idempotencyKey).toBe('guest-1/1')
  })

  it('is not touched by a worker that lost its lease', async () => {
    const log = new MemoryLog()
    const invoke = vi.fn()
    for (const held of [() => false, async () => false, () => Promise.reject(new Error('x'))]) {
      const { call } = testGate([tool(invoke)], undefined, { callLog: log, lease: { fencingToken: 1, held } })
      expect(await call('a.tool')).toMatchObject({ fatal: true, answer: { error: { code: 'lease_lost' } } })
    }
    expect(invoke).not.toHaveBeenCalled()
    expect(log.results).toEqual([])
  })
})

describe('timeouts, retries and stops', () => {
  it('a call that does not settle fails after its timeout and its signal is raised', async () => {
    let signal: AbortSignal | undefined
    const { call } = testGate([
      tool(
        (_, context) => {
          signal = context.signal
          return new Promise(() => {})
        },
        { timeoutMs: 5 },
      ),
    ])
    expect((await call('a.tool')).answer).toMatchObject({
      error: { code: 'timeout', details: { timeoutMs: 5 } },
    })
    expect(signal?.aborted).toBe(true)
  })

  it('retries what the policy names, with growing pauses, and nothing else', async () => {
    const attempts: number[] = []
    const failing = (error: unknown, retry: object) =>
      testGate([
        tool(
          (_, { attempt }) => {
            attempts.push(attempt)
            throw error
          },
          { retry: { attempts: 3, delayMs: () => 0, ...retry } },
        ),
      ]).call('a.tool')
    await failing(new CaissonError('network_failed', 'x'), {})
    expect(attempts.splice(0)).toEqual([1, 2, 3])
    await failing(new Error('x'), {})
    expect(attempts.splice(0)).toEqual([1])
    await failing(new Error('x'), { when: () => true })
    expect(attempts.splice(0)).toEqual([1, 2, 3])
    await failing(new Error('x'), {
      when: () => {
        throw new Error('y')
      },
    })
    expect(attempts.splice(0)).toEqual([1])
    await failing(new CaissonError('network_failed', 'x'), { delayMs: () => Number.NaN })
    expect(attempts.splice(0)).toEqual([1])
  })

  it('nothing is retried without a policy, or after the stop', async () => {
    const invoke = vi.fn(() => Promise.reject(new CaissonError('network_failed', 'x')))
    await testGate([tool(invoke)]).call('a.tool')
    expect(invoke).toHaveBeenCalledTimes(1)
    const { call, stop } = testGate([tool(invoke, { retry: { attempts: 5, delayMs: () => 60_000 } })])
    const calling = call('a.tool')
    await new Promise((resolve) => setTimeout(resolve, 1))
    stop.stop()
    expect(codeOf(await calling)).toBe('aborted')
    expect(invoke).toHaveBeenCalledTimes(2)
  })

  it('nothing starts after the stop', async () => {
    const invoke = vi.fn()
    const { call, stop } = testGate([tool(invoke)])
    stop.stop()
    expect(codeOf(await call('a.tool'))).toBe('aborted')
    expect(invoke).not.toHaveBeenCalled()
  })
})

describe('failures', () => {
  it('say nothing but the code, unless the definition exposes more', async () => {
    const secret = new CaissonError('not_found', 'no row in /var/db for key hunter2', { details: { row: 5 } })
    const run = async (more: object): Promise<unknown> =>
      (
        await testGate([
          tool(() => {
            throw secret
          }, more),
        ]).call('a.tool')
      ).answer
    expect(await run({})).toMatchObject({
      error: { code: 'capability_failed', message: 'The capability "a.tool" failed.' },
    })
    expect(await run({ expose: ['timeout'] })).toMatchObject({ error: { code: 'capability_failed' } })
    expect(await run({ expose: ['not_found'] })).toMatchObject({
      error: { code: 'not_found', message: secret.message, details: { row: 5 } },
    })
    const shown = new CaissonError('rate_limited', 'slow down', { details: { retryAfterMs: 9 } })
    expect(await run({ expose: () => shown })).toMatchObject({
      error: { code: 'rate_limited', message: 'slow down', details: { retryAfterMs: 9 } },
    })
  })

  it('of the implementation reach the host as they were', async () => {
    const error = new Error('secret')
    const { call, reports } = testGate([tool(() => Promise.reject(error))])
    await call('a.tool')
    expect(reports).toEqual([{ callId: 1, capability: 'a.tool', code: 'capability_failed', cause: error }])
  })

  it('of the report itself change nothing', async () => {
    const report = (): void => {
      throw new Error('reporter down')
    }
    const { call } = testGate([tool(() => Promise.reject(new Error('x')))], undefined, { report })
    expect(codeOf(await call('a.tool'))).toBe('capability_failed')
  })
})

describe('the final value', () => {
  const plain = fc.anything({
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
    maxDepth: 3,
  })
  const mutate = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    try {
      if (value instanceof Map || value instanceof Set) value.clear()
      else if (value instanceof Date) value.setTime(0)
      else if (ArrayBuffer.isView(value)) new Uint8Array(value.buffer).fill(0xff)
      else {
        for (const key of Object.keys(value)) mutate((value as Record<string, unknown>)[key])
        for (const key of Object.keys(value)) (value as Record<string, unknown>)[key] = 'mutated'
        ;(value as Record<string, unknown>).added = 'mutated'
      }
    } catch {
      // Frozen: as good.
    }
  }

  it('is what is authorised, approved, invoked and recorded, whoever tries to change it (invariant 1)', async () => {
    await fc.assert(
      fc.asyncProperty(plain, async (args) => {
        const sketch = (value: unknown): unknown => structuredClone(value)
        const seen: unknown[] = []
        const look = (value: unknown): void => {
          seen.push(sketch(value))
          mutate(value)
        }
        const log = new MemoryLog()
        const kept: unknown[] = []
        const defined = capability({
          name: 'a.tool',
          description: 'x',
          effect: 'write',
          idempotent: true,
          retry: { attempts: 2, when: () => true, delayMs: () => 0 },
          input: {
            '~standard': {
              version: 1,
              vendor: 'test',
              validate: (value: unknown) => {
                const result = { value: structuredClone(value) }
                kept.push(result.value)
                mutate(value)
                return result
              },
            },
          },
          cost: (input) => {
            look(input)
            return {}
          },
          invoke: async (input: unknown, { attempt }) => {
            for (const one of kept) mutate(one)
            look(input)
            if (attempt === 1) throw new Error('again')
            return null
          },
        })
        const pending = pendingCall(1, 'a.tool', structuredClone(args))
        const { gate, stop } = testGate(
          [defined],
          [
            {
              capability: 'a.tool',
              approve: true,
              constrain: (input) => {
                look(input)
                return true
              },
            },
          ],
          {
            callLog: log,
            digest: () => 'd',
            approver: {
              approve: async ({ args, digest }) => {
                look(args)
                return { decision: 'approved', digest }
              },
            },
          },
        )
        const delivery = await gate.call(pending, stop)
        if (codeOf(delivery) === 'value_refused') return // what cannot be copied is refused as a whole
        expect(codeOf(delivery)).toBe('ok')
        expect(seen).toHaveLength(5) // constraint, cost, approver, two attempts
        for (const one of seen) expect(one).toEqual(args)
        expect(log.intents[0]?.args).toEqual(args)
        expect(pending.args).toEqual(args)
      }),
      { numRuns: 60 },
    )
  })
})
