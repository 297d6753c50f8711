import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Account } from './account.ts'
import { Ledger } from './budget.ts'
import { RateWindow } from './rate-window.ts'

describe('Account', () => {
  const rule = { capability: 'a', calls: 3, bytesOut: 100, bytesIn: 50, budgets: { cents: 10, rows: 5 } }

  it('takes everything that a call needs, or nothing (invariant 1)', () => {
    const account = new Account(rule)
    expect(account.reserve(10, { cents: 4, rows: 6 }, 0)).toEqual({ kind: 'unit', unit: 'rows' })
    expect(account.snapshot(0)).toMatchObject({ calls: 0, bytesOut: 0, units: {} })
    expect(account.reserve(10, { cents: 4, rows: 5, other: 1e9 }, 0)).toBeUndefined()
    expect(account.reserve(91, undefined, 0)).toEqual({ kind: 'bytes' })
    expect(account.snapshot(0)).toMatchObject({
      calls: 1,
      bytesOut: 10,
      units: { cents: 4, rows: 5, other: 1e9 },
    })
  })

  it('takes result bytes as long as they fit', () => {
    const account = new Account(rule)
    expect([account.receive(30), account.receive(21), account.receive(20)]).toEqual([true, false, true])
  })

  it('never gives more than its limits, and never forgets over a snapshot (property)', () => {
    const call = fc.record({ bytes: fc.nat(40), cents: fc.nat(6), wait: fc.nat(30), restore: fc.boolean() })
    fc.assert(
      fc.property(fc.array(call, { maxLength: 40 }), (calls) => {
        const limits = { ...rule, calls: 8, rate: { calls: 2, perMs: 50 } }
        let account = new Account(limits)
        let now = 0
        const taken: { bytes: number; cents: number; at: number }[] = []
        for (const { bytes, cents, wait, restore } of calls) {
          now += wait
          if (restore) {
            const state: unknown = JSON.parse(JSON.stringify(account.snapshot(now)))
            account = new Account(limits)
            account.restore(state as ReturnType<Account['snapshot']>, now)
          }
          if (account.reserve(bytes, { cents }, now) === undefined) taken.push({ bytes, cents, at: now })
        }
        const sum = (of: 'bytes' | 'cents'): number => taken.reduce((total, one) => total + one[of], 0)
        expect(taken.length).toBeLessThanOrEqual(8)
        expect(sum('bytes')).toBeLessThanOrEqual(100)
        expect(sum('cents')).toBeLessThanOrEqual(10)
        for (const { at } of taken) {
          expect(taken.filter((other) => other.at <= at && at - other.at < 50).length).toBeLessThanOrEqual(2)
        }
        expect(account.snapshot(now)).toMatchObject({ calls: taken.length, bytesOut: sum('bytes') })
      }),
    )
  })
})

describe('RateWindow', () => {
  it('says how long to wait', () => {
    const window = new RateWindow(2, 100)
    for (const at of [0, 40]) {
      expect(window.waitMs(at)).toBe(0)
      window.take(at)
    }
    expect(window.waitMs(50)).toBe(50)
    expect(window.waitMs(100)).toBe(0)
  })

  it('means the same after a snapshot, with the newest calls kept when the window shrank', () => {
    const window = new RateWindow(3, 100)
    for (const at of [0, 40, 80]) window.take(at)
    expect(window.ages(90)).toEqual([90, 50, 10])
    const smaller = new RateWindow(1, 100)
    smaller.restore(window.ages(90), 1_000_000)
    expect(smaller.waitMs(1_000_000)).toBe(90)
  })
})

describe('Ledger', () => {
  it('continues an account that is opened again, under the new limits (invariant 1)', () => {
    const ledger = new Ledger()
    ledger.open('a', { capability: 'a' }, 0).reserve(5, undefined, 0)
    const again = ledger.open('a', { capability: 'a', calls: 1 }, 0)
    expect(again.reserve(5, undefined, 0)).toEqual({ kind: 'calls' })
  })

  it('survives as plain data, also for grants that are not open at the time (invariant 2)', () => {
    const ledger = new Ledger()
    ledger.open('a', { capability: 'a' }, 0).reserve(5, { cents: 2 }, 0)
    const state = JSON.parse(JSON.stringify(ledger.snapshot(0)))
    const later = new Ledger()
    later.restore(state, 0)
    expect(later.snapshot(0)).toEqual(state)
    const account = later.open('a', { capability: 'a', calls: 1 }, 0)
    expect(account.reserve(0, undefined, 0)).toEqual({ kind: 'calls' })
  })

  it.each([
    null,
    { version: 2, accounts: {} },
    { version: 1, accounts: { a: { calls: -1, bytesOut: 0, bytesIn: 0, units: {}, rateAgesMs: [] } } },
    { version: 1, accounts: { a: { calls: 1, bytesOut: 0, bytesIn: 0, units: { x: 'y' }, rateAgesMs: [] } } },
    { version: 1, accounts: { a: { calls: 1 } } },
    { version: 1, accounts: { a: 7 } },
  ])('refuses %j and stays as it was', (state) => {
    const ledger = new Ledger()
    ledger.open('b', { capability: 'b' }, 0).reserve(1, undefined, 0)
    const before = ledger.snapshot(0)
    expect(() => ledger.restore(state as never, 0)).toThrow(expect.objectContaining({ code: 'corrupted' }))
    expect(ledger.snapshot(0)).toEqual(before)
  })
})
