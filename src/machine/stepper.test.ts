import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import type { Capability } from '../capability/capability.ts'
import { checkCapability } from '../capability/define-capability.ts'
import { MemoryLog, realClock, testGate } from '../capability/gate.testkit.ts'
import type { Grant } from '../capability/grant.ts'
import {
  completed,
  ScriptedMachine,
  type ScriptedTurn,
  scriptedStart,
  waiting,
} from './scripted-machine.testkit.ts'
import { Stepper } from './stepper.ts'
import type { TurnEnd } from './turn.ts'

const invoke = vi.fn(async ({ sku }: { sku: string }) => ({ price: sku.length }))
const prices = checkCapability({
  name: 'prices.lookup',
  description: 'x',
  effect: 'read',
  input: z.object({ sku: z.string() }),
  output: z.object({ price: z.number() }),
  invoke,
} as unknown as Capability)

async function start(
  guest: (turn: ScriptedTurn) => TurnEnd,
  grants: readonly Grant[] = ['prices.lookup'],
  capability: Capability = prices,
) {
  const log = new MemoryLog()
  const test = testGate([capability], grants, { callLog: log, clock: realClock })
  const machine = new ScriptedMachine(guest)
  const stepper = await Stepper.start({
    machine,
    gate: test.gate,
    clock: realClock,
    start: scriptedStart(test.gate),
  })
  return { ...test, machine, stepper, log }
}

/** Asks twice at once and completes with both answers. */
const asksTwice = (): ((turn: ScriptedTurn) => TurnEnd) => {
  const answers: unknown[] = []
  return (turn) => {
    if (turn.number === 1) {
      turn.call('prices.lookup', { sku: 'abc' })
      turn.call('prices.lookup', { sku: 'de' })
    }
    answers.push(...turn.answers)
    return answers.length === 2 ? completed(answers) : waiting
  }
}

describe('Stepper', () => {
  it('shows what is pending and takes answers by hand, by id, in any order', async () => {
    const { stepper, log } = await start(asksTwice())
    expect(stepper.pending).toMatchObject([
      { id: 1, capability: 'prices.lookup', args: { sku: 'abc' } },
      { id: 2, args: { sku: 'de' } },
    ])
    expect(stepper.outcome).toBeUndefined()
    await stepper.settle(2, { price: 7 })
    expect(stepper.pending).toMatchObject([{ id: 1 }])
    await stepper.settle(1, { price: 9 })
    expect(stepper.outcome).toMatchObject({
      status: 'completed',
      value: [
        { id: 2, ok: true, value: { price: 7 } },
        { id: 1, ok: true, value: { price: 9 } },
      ],
    })
    expect(log.entries).toEqual(['intent 2', 'result 2 ok', 'intent 1', 'result 1 ok'])
    expect(invoke).not.toHaveBeenCalled()
  })

  it('lets the gate answer where that is wanted', async () => {
    const { stepper } = await start(asksTwice())
    expect(await stepper.invoke(1)).toBeUndefined()
    expect(await stepper.reject(2, new Error('secret'))).toBe('capability_failed')
    expect(stepper.outcome).toMatchObject({
      value: [
        { ok: true, value: { price: 3 } },
        { ok: false, error: { message: 'The capability "prices.lookup" failed.' } },
      ],
    })
  })

  it('takes one answer for one call (invariant 1)', async () => {
    const { stepper } = await start(asksTwice())
    const first = stepper.settle(1, { price: 1 })
    await expect(stepper.settle(1, { price: 2 })).rejects.toMatchObject({ code: 'unknown_call' })
    await first
    for (const id of [1, 3, 0, Number.NaN]) {
      await expect(stepper.settle(id, { price: 2 })).rejects.toMatchObject({ code: 'unknown_call' })
    }
    await stepper.settle(2, { price: 2 })
    await expect(stepper.settle(2, { price: 2 })).rejects.toMatchObject({ code: 'unknown_call' })
  })

  it('takes steps one after the other (invariant 2)', async () => {
    const { stepper, machine } = await start(asksTwice())
    await Promise.all([stepper.settle(2, { price: 7 }), stepper.settle(1, { price: 9 })])
    expect(machine.turns.map(({ answers }) => answers.map(({ id }) => id))).toEqual([[], [2], [1]])
    expect(stepper.outcome).toMatchObject({ status: 'completed' })
  })

  it('holds answers by hand to the grant and to both schemas', async () => {
    const asksWrongly = (turn: ScriptedTurn): TurnEnd => {
      if (turn.number > 1) return completed(turn.answers)
      turn.call('prices.lookup', { sku: 5 })
      return waiting
    }
    const wrongArgs = await start(asksWrongly)
    expect(await wrongArgs.stepper.settle(1, { price: 1 })).toBe('invalid_arguments')
    const denied = await start(asksTwice(), [{ capability: 'prices.lookup', constrain: () => 'no' }])
    expect(await denied.stepper.settle(1, { price: 1 })).toBe('denied')
  })

  it.each<[string, unknown, RegExp]>([
    [
      'invalid_result',
      { price: 'much' },
      /call 1 of "prices\.lookup": it does not match the output schema \(price: /,
    ],
    ['value_refused', { price: () => 1 }, /function/],
    ['result_too_large', { price: 1, text: 'x'.repeat(2e7) }, /bytes/],
    ['value_too_deep', { price: JSON.parse('['.repeat(5_000) + ']'.repeat(5_000)) as unknown }, /deep/],
  ])(
    'throws a wrong answer by hand as %s, and nothing else happens (invariant 4)',
    async (code, value, message) => {
      const { stepper, log, reports, ledger } = await start(asksTwice())
      const before = JSON.stringify(ledger.snapshot(0))
      await expect(stepper.settle(1, value)).rejects.toMatchObject({
        code,
        message: expect.stringMatching(message),
        details: { id: 1, capability: 'prices.lookup' },
      })
      expect(stepper.pending.map(({ id }) => id)).toEqual([1, 2])
      expect({ log: log.entries, reports, ledger: JSON.stringify(ledger.snapshot(0)) }).toEqual({
        log: [],
        reports: [],
        ledger: before,
      })
      await stepper.settle(1, { price: 1 })
      await stepper.settle(2, { price: 2 })
      expect(stepper.outcome).toMatchObject({ status: 'completed' })
      expect(log.entries).toEqual(['intent 1', 'result 1 ok', 'intent 2', 'result 2 ok'])
    },
  )

  it('keeps the order of steps around a wrong answer, and the call out of reach while it is looked at', async () => {
    const { stepper, machine } = await start(asksTwice())
    const wrong = stepper.settle(1, 'wrong').catch((error: unknown) => error)
    expect(stepper.pending.map(({ id }) => id)).toEqual([2])
    await expect(stepper.invoke(1)).rejects.toMatchObject({ code: 'unknown_call' })
    const second = stepper.settle(2, { price: 2 })
    expect(await wrong).toMatchObject({ code: 'invalid_result' })
    await second
    expect(stepper.outcome).toBeUndefined()
    await stepper.settle(1, { price: 1 })
    expect(machine.turns.map(({ answers }) => answers.map(({ id }) => id))).toEqual([[], [2], [1]])
  })

  it('a guest that ends while an answer is looked at ends as it does', async () => {
    const slow = checkCapability({
      name: 'prices.lookup',
      description: 'x',
      effect: 'read',
      output: { '~standard': { version: 1, vendor: 'x', validate: () => new Promise(() => {}) } },
      invoke,
    } as unknown as Capability)
    const { stepper } = await start(asksTwice(), ['prices.lookup'], slow)
    const settling = stepper.settle(1, { price: 1 })
    setTimeout(() => stepper.abort(), 5)
    expect(await settling).toBe('aborted')
    expect(stepper.outcome).toMatchObject({ status: 'failed', error: { code: 'aborted' } })
  })

  it('ends a stalled guest, and an aborted one', async () => {
    const stalled = await start(() => waiting)
    expect(stalled.stepper.outcome).toMatchObject({ status: 'failed', error: { code: 'stalled' } })
    const aborted = await start(asksTwice())
    aborted.stepper.abort()
    expect(aborted.stepper.pending).toEqual([])
    expect(aborted.stepper.outcome).toMatchObject({ status: 'failed', error: { code: 'aborted' } })
    await expect(aborted.stepper.settle(1, 1)).rejects.toMatchObject({ code: 'unknown_call' })
  })
})
