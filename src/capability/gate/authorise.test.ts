/** Constraints and revoked grants at the gate. */
import { describe, expect, it } from 'vitest'
import { codeOf, testGate, tool } from '../gate.testkit.ts'

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
