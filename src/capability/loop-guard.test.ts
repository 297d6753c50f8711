import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Ledger } from './budget.ts'
import { fingerprint } from './fingerprint.ts'
import { codeOf, testGate, tool } from './gate.testkit.ts'
import { isLoopGuardState, LoopGuard, type LoopStep, loopRuleProblem } from './loop-guard.ts'

const RULE = { identicalCalls: 5, identicalErrors: 4, alternations: 3, withoutProgress: 9 }
const step = (key: string, name = 'a'): LoopStep => ({ key, name })

/** Takes steps until one is not taken: how many were, and why it ended. */
function until(
  guard: LoopGuard,
  steps: Iterable<readonly [key: string, answer: string, name?: string]>,
): string {
  let taken = 0
  for (const [key, answer, name] of steps) {
    const found = guard.check(step(key, name))
    if (found !== undefined) return `${found.kind} ${found.count} after ${taken}`
    guard.begin(step(key, name))
    const failed = answer.startsWith('!')
    guard.end(step(key, name), failed ? { ok: false, error: answer } : { ok: true, value: answer })
    taken += 1
  }
  return `${taken} taken`
}

function* cycle(
  length: number,
  ...steps: (readonly [string, string, string?])[]
): Generator<readonly [string, string, string?]> {
  for (let i = 0; i < length; i += 1) yield steps[i % steps.length] as readonly [string, string]
}

describe('the loop guard', () => {
  it('stops the same call with the same answer', () => {
    expect(until(new LoopGuard(RULE), cycle(99, ['x', '1']))).toBe('identical_calls 5 after 5')
  })

  it('takes another answer for progress, and another call too (invariant 2)', () => {
    function* polls(): Generator<[string, string]> {
      for (let i = 0; i < 500; i += 1) yield ['x', `${i >> 1}`]
    }
    expect(until(new LoopGuard(RULE), polls())).toBe('500 taken')
    function* items(): Generator<[string, string]> {
      for (let i = 0; i < 500; i += 1) yield [`${i}`, 'ok']
    }
    expect(until(new LoopGuard(RULE), items())).toBe('500 taken')
  })

  it('stops the same failure of one capability, whatever was asked, unless it works between', () => {
    function* failing(works: number): Generator<[string, string]> {
      for (let i = 0; i < 50; i += 1) yield [`${i}`, i % works === works - 1 ? 'ok' : '!gone']
    }
    expect(until(new LoopGuard(RULE), failing(99))).toBe('identical_errors 4 after 4')
    expect(until(new LoopGuard(RULE), failing(4))).toBe('50 taken')
  })

  it('stops two calls in turn', () => {
    expect(until(new LoopGuard(RULE), cycle(99, ['x', '1'], ['y', '2', 'b']))).toBe(
      'alternating_calls 3 after 6',
    )
  })

  it('stops what goes round without anything new', () => {
    const steps = [
      ['x', '1'],
      ['y', '2'],
      ['z', '3'],
      ['x', '4'],
    ] as const
    expect(until(new LoopGuard(RULE), cycle(99, ...steps))).toBe('no_progress 9 after 13')
    const guard = new LoopGuard(RULE)
    until(guard, cycle(13, ...steps))
    // What was never asked may bring something new.
    expect(guard.check(step('new'))).toBeUndefined()
  })

  it('counts calls that are under way', () => {
    const guard = new LoopGuard(RULE)
    for (let i = 0; i < 5; i += 1) {
      expect(guard.check(step('x'))).toBeUndefined()
      guard.begin(step('x'))
    }
    expect(guard.check(step('x'))?.kind).toBe('identical_calls')
    guard.drop(step('x'))
    expect(guard.check(step('x'))).toBeUndefined()
  })

  it('goes on in another process where it was (invariant 4)', () => {
    for (const steps of [
      [['x', '1']],
      [
        ['x', '1'],
        ['y', '2', 'b'],
      ],
      [
        ['x', '!gone'],
        ['y', '!gone'],
        ['z', '!gone'],
      ],
      [
        ['x', '1'],
        ['y', '2'],
        ['z', '3'],
        ['x', '4'],
      ],
    ] as const) {
      const whole = until(new LoopGuard(RULE), cycle(99, ...steps))
      const before = new LoopGuard(RULE)
      const stops = Number(whole.split(' ').at(-1))
      until(before, cycle(stops - 1, ...steps))
      const after = new LoopGuard(RULE)
      after.restore(JSON.parse(JSON.stringify(before.snapshot() ?? {})))
      const rest = [...cycle(99, ...steps)].slice(stops - 1)
      expect(until(after, rest)).toBe(whole.replace(/\d+$/, '1'))
    }
  })

  it('holds little, whatever it is told, and nothing where nothing repeats itself (invariant 3)', () => {
    const guard = new LoopGuard()
    for (let i = 0; i < 20_000; i += 1) guard.end(step(`${i}`), { ok: true, value: 'x' })
    expect(guard.snapshot()).toBeUndefined()
    for (let i = 0; i < 20_000; i += 1)
      guard.end(step(`${i % 50}`, `tool ${i % 7}`), { ok: false, error: 'no' })
    expect(JSON.stringify(guard.snapshot()).length).toBeLessThan(2_000)
  })

  it('decides by the order of steps alone (invariant 1)', () => {
    const steps = fc.array(fc.tuple(fc.constantFrom('x', 'y', 'z'), fc.constantFrom('1', '2', '!no')), {
      maxLength: 80,
    })
    fc.assert(
      fc.property(steps, (taken) => {
        expect(until(new LoopGuard(RULE), taken)).toBe(until(new LoopGuard(RULE), taken))
      }),
    )
  })

  it('knows its own states and rules', () => {
    expect(isLoopGuardState({ calls: [['a', 'b', 3]], idle: 4 })).toBe(true)
    for (const wrong of [null, { calls: 1 }, { calls: [['a', 'b']] }, { idle: -1 }, { last: [1] }])
      expect(isLoopGuardState(wrong)).toBe(false)
    expect(loopRuleProblem({ identicalCalls: 2 })).toBeUndefined()
    for (const wrong of [
      1,
      { calls: 5 },
      { identicalCalls: 1 },
      { alternations: 2.5 },
      { withoutProgress: 1e9 },
    ])
      expect(loopRuleProblem(wrong)).toBeTypeOf('string')
  })
})

describe('a fingerprint', () => {
  it('is the same for equal values, and tells others apart', () => {
    fc.assert(
      fc.property(
        fc.anything({ withMap: true, withSet: true, withDate: true, withBigInt: true }),
        (value) => {
          const print = fingerprint(value)
          if (print !== undefined) expect(fingerprint(structuredClone(value))).toBe(print)
        },
      ),
    )
    const prints = Array.from({ length: 10_000 }, (_, i) =>
      fingerprint({ text: `number ${i}`, list: [i, i % 7] }),
    )
    expect(new Set(prints).size).toBe(10_000)
  })
})

describe('the stage of the gate', () => {
  it('refuses the call that would be one too many, with what was repeated, and lets others through', async () => {
    let made = 0
    const { call } = testGate(
      [
        tool(() => {
          made += 1
          return true
        }),
        tool(() => 1, { name: 'a.other' }),
      ],
      ['a.tool', 'a.other'],
      {
        guard: RULE,
      },
    )
    const codes = []
    for (let i = 0; i < 8; i += 1) codes.push(codeOf(await call('a.tool', { sku: 1 })))
    expect(codes).toEqual([...Array(5).fill('ok'), ...Array(3).fill('loop_detected')])
    expect(made).toBe(5)
    expect(codeOf(await call('a.tool', { sku: 2 }))).toBe('ok')
    const { answer } = await call('a.tool', { sku: 1 })
    expect(answer).toMatchObject({
      ok: false,
      error: { code: 'loop_detected', details: { kind: 'identical_calls', count: 5 } },
    })
  })

  it('never asks a person the same without end', async () => {
    let asked = 0
    const approver = {
      approve: async () => {
        asked += 1
        return { decision: 'rejected' as const, reason: 'no' }
      },
    }
    const { call } = testGate([tool(() => 1)], [{ capability: 'a.tool', approve: true }], {
      guard: RULE,
      approver,
    })
    for (let i = 0; i < 50; i += 1) await call('a.tool', i)
    expect(asked).toBe(4)
  })

  it('counts calls that are refused before, such as those with wrong arguments', async () => {
    const { call } = testGate([tool(() => 1)], [{ capability: 'a.tool', constrain: () => 'never' }], {
      guard: RULE,
    })
    const codes = []
    for (let i = 0; i < 6; i += 1) codes.push(codeOf(await call('a.tool', 'x')))
    // Refused by the constraint each time: nothing is made, and the reason stays the true one.
    expect(codes).toEqual(Array(6).fill('denied'))
  })

  it('goes on where it was when the ledger is restored', async () => {
    const first = testGate([tool(() => 1)], ['a.tool'], { guard: RULE })
    for (let i = 0; i < 4; i += 1) await first.call('a.tool')
    const ledger = new Ledger()
    ledger.restore(JSON.parse(JSON.stringify(first.ledger.snapshot(0))), 0)
    const second = testGate([tool(() => 1)], ['a.tool'], { guard: RULE, ledger })
    expect([codeOf(await second.call('a.tool')), codeOf(await second.call('a.tool'))]).toEqual([
      'ok',
      'loop_detected',
    ])
  })

  it('looks at nothing where there is no rule', async () => {
    const { call } = testGate([tool(() => 1)])
    for (let i = 0; i < 500; i += 1) expect(codeOf(await call('a.tool'))).toBe('ok')
  })

  it('refuses a ledger whose guard knows nonsense', () => {
    const state = { version: 1, accounts: {}, loops: { idle: -4 } }
    expect(() => new Ledger().restore(state as never, 0)).toThrow(
      expect.objectContaining({ code: 'corrupted' }),
    )
  })
})
