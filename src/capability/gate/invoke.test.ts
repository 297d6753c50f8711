/** Timeouts, retries and stops of an invocation. */
import { describe, expect, it, vi } from 'vitest'
import { CaissonError } from '../../base/errors.ts'
import { codeOf, testGate, tool } from '../gate.testkit.ts'

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
