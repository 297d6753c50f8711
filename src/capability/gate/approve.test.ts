/** People who decide over calls. */
import { describe, expect, it, vi } from 'vitest'
import type { ApprovalRequest, Approver } from '../../ports/approver.ts'
import { codeOf, testGate, tool } from '../gate.testkit.ts'

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
    expect(() => testGate([tool(() => 1)], [{ capability: 'a.tool', approve: true }])).toThrow(
      /no approver and nobody else/,
    )
  })
})
