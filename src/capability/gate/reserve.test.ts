/** Calls, bytes, costs and rates at the gate. */
import { describe, expect, it, vi } from 'vitest'
import { codeOf, testGate, tool } from '../gate.testkit.ts'

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
