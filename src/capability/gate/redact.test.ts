/** What a guest and the host see of a failure. */
import { describe, expect, it } from 'vitest'
import { CaissonError } from '../../base/errors.ts'
import { codeOf, testGate, tool } from '../gate.testkit.ts'

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
