/** Input and output schemas at the gate. */
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { codeOf, MemoryLog, testGate, tool } from '../gate.testkit.ts'

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
