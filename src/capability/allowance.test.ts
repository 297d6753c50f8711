import { describe, expect, it } from 'vitest'
import type { Allowance, Shortfall } from './allowance.ts'
import { Ledger } from './budget.ts'
import { capability } from './define-capability.ts'
import { codeOf, pendingCall, testGate, tool } from './gate.testkit.ts'

/** So many calls and bytes of results, whoever takes them. */
class Shared implements Allowance {
  readonly told: string[] = []
  calls: number
  bytes: number

  constructor(calls: number, bytes = 1_000) {
    this.calls = calls
    this.bytes = bytes
  }

  reserve({ capability: name, call }: { capability: string; call: number }): Shortfall | undefined {
    if (this.calls === 0)
      return {
        code: 'budget_exhausted',
        message: 'Nothing is left for all of them.',
        details: { unit: 'calls' },
      }
    this.calls -= 1
    this.told.push(`${name} ${call}`)
    return undefined
  }

  receive({ bytes }: { bytes: number }): boolean {
    if (bytes > this.bytes) return false
    this.bytes -= bytes
    return true
  }

  resumed(name: string, { calls }: { calls: number }): void {
    this.told.push(`${name} had ${calls}`)
    this.calls -= calls
  }
}

describe('what grants of several guests share', () => {
  it('is used up by all of them together, each with its own conditions beside it', async () => {
    const within = new Shared(3)
    const gates = [1, 2].map(() => testGate([tool(() => 1)], [{ capability: 'a.tool', calls: 2, within }]))
    const [first, second] = gates as [(typeof gates)[0], (typeof gates)[0]]
    const codes = []
    for (const { call } of [first, first, first, second, second]) codes.push(codeOf(await call('a.tool')))
    expect(codes).toEqual(['ok', 'ok', 'budget_exhausted', 'ok', 'budget_exhausted'])
    // The third call of the first was refused by its own grant, and took nothing of what is shared.
    expect(within.told).toEqual(['a.tool 1', 'a.tool 2', 'a.tool 1'])
  })

  it('takes nothing from the grant itself when it refuses', async () => {
    const within = new Shared(0)
    const { call, ledger } = testGate(
      [tool(() => 1)],
      [{ capability: 'a.tool', within, rate: { calls: 1, perMs: 9 } }],
    )
    expect(codeOf(await call('a.tool'))).toBe('budget_exhausted')
    expect(ledger.snapshot(0).accounts['a.tool']).toMatchObject({ calls: 0, rateAgesMs: [] })
  })

  it('bounds the bytes of results', async () => {
    const within = new Shared(9, 20)
    const { call } = testGate([tool(() => 'x'.repeat(12))], [{ capability: 'a.tool', within }])
    expect(codeOf(await call('a.tool'))).toBe('ok')
    expect(codeOf(await call('a.tool'))).toBe('budget_exhausted')
  })

  it('counts sync calls, and those of what continues a granted capability', async () => {
    const within = new Shared(2)
    const now = capability({ name: 'a.now', description: 'Now', effect: 'read', sync: true, invoke: () => 1 })
    const more = tool(() => 1, { name: 'a.more', continues: 'a.tool' })
    const { gate, call } = testGate(
      [tool(() => 1), more, now],
      [
        { capability: 'a.tool', within },
        { capability: 'a.now', within },
      ],
    )
    const index = gate.capabilities.findIndex(({ name }) => name === 'a.now')
    expect(gate.sync.call(index, undefined, 0)).toBe(1)
    expect(codeOf(await call('a.more'))).toBe('ok')
    expect(
      codeOf(await gate.call(pendingCall(7, 'a.tool'), { stopped: false, onStop: () => () => {} })),
    ).toBe('budget_exhausted')
  })

  it('is told once what an earlier life of the guest used', () => {
    const within = new Shared(5)
    const before = new Ledger()
    before.open('a', { capability: 'a' }, 0).reserve(1, undefined, 0)
    const ledger = new Ledger()
    ledger.restore(before.snapshot(0), 0)
    ledger.open('a', { capability: 'a', within }, 0)
    ledger.open('a', { capability: 'a', within }, 0)
    expect(within.told).toEqual(['a had 1'])
    expect(within.calls).toBe(4)
  })

  it('is refused where it is none', () => {
    expect(() => testGate([tool(() => 1)], [{ capability: 'a.tool', within: {} as never }])).toThrow(
      /within must be an allowance/,
    )
  })
})
