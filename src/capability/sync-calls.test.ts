import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { Refusal } from './call.ts'
import type { Capability } from './capability.ts'
import { checkCapability } from './define-capability.ts'
import { MemoryLog, testGate } from './gate.testkit.ts'

function reader(invoke: (input: unknown) => unknown, more: object = {}): Capability {
  return checkCapability({
    name: 'a.read',
    description: 'x',
    effect: 'read',
    sync: true,
    invoke,
    ...more,
  } as Capability)
}

function codeOf(result: unknown): string {
  return result instanceof Refusal ? result.failure.code : 'ok'
}

describe('sync calls', () => {
  it('answer at once with primitives and with plain copies', () => {
    const shared = { n: 1 }
    for (const value of [1, 'x', '', true, undefined, null, 10n, shared, [shared]]) {
      expect(testGate([reader(() => value)]).gate.sync.call(0, undefined, 0)).toEqual(value)
    }
    expect(testGate([reader(() => shared)]).gate.sync.call(0, undefined, 0)).not.toBe(shared)
    expect(testGate([reader((input) => input)]).gate.sync.call(0, { a: [1] }, 0)).toEqual({ a: [1] })
  })

  it('refuse any index that names no sync capability, whatever the guest memory holds', () => {
    const awaited = checkCapability({ name: 'a.b', description: 'x', effect: 'read', invoke: () => 1 })
    const { gate } = testGate([awaited, reader(() => 1)])
    for (const index of [2, -1, 1.5, Number.NaN, 2 ** 32, Number.POSITIVE_INFINITY]) {
      expect(codeOf(gate.sync.call(index, undefined, 0))).toBe('unknown_capability')
    }
    expect(codeOf(gate.sync.call(0, undefined, 0))).toBe('denied')
    expect(codeOf(gate.sync.call(1, undefined, 0))).toBe('ok')
  })

  it('never throw (invariant 1)', () => {
    const hostile: unknown[] = [
      () => {
        throw new Error('/etc/secret')
      },
      () => Promise.reject(new Error('x')),
      () => Promise.resolve(1),
      () => ({
        // biome-ignore lint/suspicious/noThenProperty: what a hostile result would do
        get then(): never {
          throw new Error('then')
        },
      }),
      () => ({
        get x(): never {
          throw new Error('x')
        },
      }),
      () =>
        new Proxy(
          {},
          {
            ownKeys() {
              throw new Error('trap')
            },
          },
        ),
      () => () => 1,
      () => Symbol('x'),
      function overflow(): unknown {
        return overflow()
      },
    ]
    for (const invoke of hostile) {
      const result = testGate([reader(invoke as () => unknown)]).gate.sync.call(0, undefined, 0)
      expect(['capability_failed', 'value_refused']).toContain(codeOf(result))
      expect(JSON.stringify(result)).not.toContain('secret')
    }
  })

  it('refuse schemas that want to be awaited', () => {
    const later = z.unknown().refine(async () => true)
    const input = testGate([reader(() => 1, { input: later })])
    expect(codeOf(input.gate.sync.call(0, 1, 8))).toBe('capability_failed')
    expect(input.reports).toMatchObject([{ cause: { code: 'invalid_capability' } }])
    expect(codeOf(testGate([reader(() => 1, { output: later })]).gate.sync.call(0, 1, 8))).toBe(
      'invalid_result',
    )
  })

  it('pass validation, constraints, budgets, rate and revocation like any other call', () => {
    const input = z.object({ n: z.coerce.number() })
    const valid = testGate([reader((o) => (o as { n: number }).n, { input })])
    expect(valid.gate.sync.call(0, { n: '5' }, 8)).toBe(5)
    expect(codeOf(valid.gate.sync.call(0, {}, 8))).toBe('invalid_arguments')

    const denied = testGate(
      [reader(() => 1)],
      [{ capability: 'a.read', constrain: (args) => args === 1 || 'no' }],
    )
    expect([codeOf(denied.gate.sync.call(0, 1, 8)), codeOf(denied.gate.sync.call(0, 2, 8))]).toEqual([
      'ok',
      'denied',
    ])

    const limited = testGate(
      [reader(() => 'xx')],
      [{ capability: 'a.read', calls: 3, bytesOut: 20, bytesIn: 5 }],
    )
    expect([16, 16, 2, 2].map((bytes) => codeOf(limited.gate.sync.call(0, 1, bytes)))).toEqual([
      'ok',
      'budget_exhausted',
      'ok',
      'budget_exhausted',
    ])
    expect(limited.ledger.snapshot(0).accounts['a.read']).toMatchObject({
      calls: 3,
      bytesOut: 20,
      bytesIn: 4,
    })

    const paced = testGate([reader(() => 1)], [{ capability: 'a.read', rate: { calls: 1, perMs: 10 } }])
    expect([codeOf(paced.gate.sync.call(0, 1, 8)), codeOf(paced.gate.sync.call(0, 1, 8))]).toEqual([
      'ok',
      'rate_limited',
    ])

    const gone = testGate([reader(() => 1)])
    gone.grants.revoke('a.read')
    expect(codeOf(gone.gate.sync.call(0, 1, 8))).toBe('revoked')
  })

  it('bound results before they are handed over', () => {
    const small = { resultLimits: { bytes: 100, nodes: 10, depth: 3 } }
    const result = (value: unknown): string =>
      codeOf(testGate([reader(() => value)], undefined, small).gate.sync.call(0, undefined, 0))
    expect(result('x'.repeat(101))).toBe('result_too_large')
    expect(result(new Array(11).fill(0))).toBe('result_too_large')
    expect(result([[[[1]]]])).toBe('value_too_deep')
    expect(result(10n ** 400n)).toBe('result_too_large')
  })

  it('are recorded with their turn, with the values that were used', () => {
    const log = new MemoryLog()
    const mutating = reader((input) => {
      if (typeof input === 'object') Object.assign(input as object, { mutated: true })
      if (input === 2) throw new Error('x')
      return { got: input }
    })
    const { gate } = testGate([mutating], undefined, { callLog: log })
    gate.sync.call(0, 1, 8)
    gate.sync.call(0, 2, 8)
    gate.sync.call(0, { n: 1 }, 8)
    expect(gate.sync.takeRecords()).toEqual([
      { capability: 'a.read', args: 1, ok: true, value: { got: 1 } },
      {
        capability: 'a.read',
        args: 2,
        ok: false,
        // All that the guest saw: a run that is taken again shows it the same.
        name: 'CapabilityError',
        code: 'capability_failed',
        message: 'The capability "a.read" failed.',
      },
      { capability: 'a.read', args: { n: 1 }, ok: true, value: { got: { n: 1, mutated: true } } },
    ])
    expect(gate.sync.takeRecords()).toEqual([])
  })

  it('leave nothing to record without a log that takes it', () => {
    const { gate } = testGate([reader(vi.fn())], undefined, {
      callLog: { intent: () => {}, result: () => {} },
    })
    gate.sync.call(0, 1, 8)
    expect(gate.sync.takeRecords()).toEqual([])
  })
})
