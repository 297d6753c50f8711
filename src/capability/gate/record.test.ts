/** What a call log is given, when, and what happens where it fails. */
import { describe, expect, it, vi } from 'vitest'
import { CaissonError } from '../../base/errors.ts'
import type { CallLog, CallResult } from '../../ports/call-log.ts'
import { codeOf, MemoryLog, testGate, tool } from '../gate.testkit.ts'

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

  it('that cannot take the arguments lets nothing happen, and the run goes on', async () => {
    const invoke = vi.fn()
    const tooLarge = (): never => {
      throw new CaissonError('value_too_large', 'Too large.')
    }
    const callLog = { intent: tooLarge, result: () => {} }
    const delivery = await testGate([tool(invoke)], undefined, { callLog }).call('a.tool')
    expect(delivery).toMatchObject({ fatal: false, answer: { error: { code: 'value_too_large' } } })
    expect(invoke).not.toHaveBeenCalled()
  })

  it('that cannot take the result has that in its place, and the guest too', async () => {
    const results: CallResult[] = []
    const callLog: CallLog = {
      intent: () => {},
      result: (result) => {
        if (result.ok) throw new CaissonError('value_too_large', 'Too large.')
        results.push(result)
      },
    }
    const delivery = await testGate([tool(() => 'value')], undefined, { callLog }).call('a.tool')
    expect(delivery).toMatchObject({ fatal: false, answer: { error: { code: 'result_too_large' } } })
    expect(results).toMatchObject([{ id: 1, ok: false, code: 'result_too_large' }])
  })

  it('of a run that somebody else has by now ends the run as lost, before and after the effect', async () => {
    const lost = (): Promise<void> => Promise.reject(new CaissonError('lease_lost', 'Taken.'))
    const report = vi.fn()
    for (const callLog of [
      { intent: lost, result: () => {} },
      { intent: () => {}, result: lost },
    ]) {
      const delivery = await testGate([tool(() => 'value')], undefined, { callLog, report }).call('a.tool')
      expect(delivery).toMatchObject({ fatal: true, answer: { ok: false, error: { code: 'lease_lost' } } })
    }
    expect(report).not.toHaveBeenCalled()
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

  it('has no result of a call that was let in and not begun when the run was stopped', async () => {
    const invoke = vi.fn()
    const results: CallResult[] = []
    const gate = testGate([tool(invoke)], undefined, {
      callLog: { intent: () => {}, result: (result) => void results.push(result) },
      // The stop comes while the lease is asked, after the intent is on record.
      lease: {
        fencingToken: 1,
        held: async () => {
          gate.stop.stop()
          return true
        },
      },
    })
    expect(codeOf(await gate.call('a.tool'))).toBe('aborted')
    expect(invoke).not.toHaveBeenCalled()
    expect(results).toEqual([])
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
