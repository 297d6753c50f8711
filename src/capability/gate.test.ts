import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Capability } from './capability.ts'
import { capability, checkCapability } from './define-capability.ts'
import { codeOf, MemoryLog, pendingCall, testGate, tool } from './gate.testkit.ts'

describe('the order of stages', () => {
  it('resolves, validates, authorises, reserves, records, invokes, records, delivers', async () => {
    const order: string[] = []
    const noting = <T>(note: string, value: T): T => {
      order.push(note)
      return value
    }
    const log = new MemoryLog()
    const { call } = testGate(
      [
        tool(
          () => {
            order.push(`invoke after ${log.entries.join()}`)
            return 1
          },
          {
            input: z.unknown().transform((value) => noting('validate', value)),
            output: z.unknown().transform((value) => noting(`output after ${log.entries.join()}`, value)),
            cost: () => noting('cost', {}),
          },
        ),
      ],
      [{ capability: 'a.tool', constrain: () => noting('constrain', true) }],
      { callLog: log, lease: { fencingToken: 1, held: () => noting('lease', true) } },
    )
    const delivery = await call('a.tool', 5)
    expect(delivery.answer).toEqual({ id: 1, ok: true, value: 1 })
    expect(order).toEqual([
      'validate',
      'constrain',
      'cost',
      'lease',
      'invoke after intent 1',
      'output after intent 1',
    ])
    expect(log.entries).toEqual(['intent 1', 'result 1 ok'])
  })

  it('refuses what is not granted or not there, and hints only at granted names', async () => {
    const other = checkCapability({ ...tool(() => 1), name: 'secret.tool' } as Capability)
    const { call } = testGate([tool(() => 1), other], ['a.tool'])
    expect(codeOf(await call('secret.tool'))).toBe('not_granted')
    const unknown = await call('a.toool')
    expect(unknown.answer).toMatchObject({
      error: { code: 'unknown_capability', message: expect.stringContaining('"a.tool"') },
    })
    expect(JSON.stringify(await call('secret.toool'))).not.toContain('secret.tool"')
    for (const name of ['__proto__', 'constructor', 'toString', '', 'x'.repeat(1e6)]) {
      const refused = await call(name)
      expect(codeOf(refused)).toBe('unknown_capability')
      expect(JSON.stringify(refused).length).toBeLessThan(1_000)
    }
  })
})

describe('the final value', () => {
  const plain = fc.anything({
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
    maxDepth: 3,
  })
  const mutate = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    try {
      if (value instanceof Map || value instanceof Set) value.clear()
      else if (value instanceof Date) value.setTime(0)
      else if (ArrayBuffer.isView(value)) new Uint8Array(value.buffer).fill(0xff)
      else {
        for (const key of Object.keys(value)) mutate((value as Record<string, unknown>)[key])
        for (const key of Object.keys(value)) (value as Record<string, unknown>)[key] = 'mutated'
        ;(value as Record<string, unknown>).added = 'mutated'
      }
    } catch {
      // Frozen: as good.
    }
  }

  it('is what is authorised, approved, invoked and recorded, whoever tries to change it (invariant 1)', async () => {
    await fc.assert(
      fc.asyncProperty(plain, async (args) => {
        const sketch = (value: unknown): unknown => structuredClone(value)
        const seen: unknown[] = []
        const look = (value: unknown): void => {
          seen.push(sketch(value))
          mutate(value)
        }
        const log = new MemoryLog()
        const kept: unknown[] = []
        const defined = capability({
          name: 'a.tool',
          description: 'x',
          effect: 'write',
          idempotent: true,
          retry: { attempts: 2, when: () => true, delayMs: () => 0 },
          input: {
            '~standard': {
              version: 1,
              vendor: 'test',
              validate: (value: unknown) => {
                const result = { value: structuredClone(value) }
                kept.push(result.value)
                mutate(value)
                return result
              },
            },
          },
          cost: (input) => {
            look(input)
            return {}
          },
          invoke: async (input: unknown, { attempt }) => {
            for (const one of kept) mutate(one)
            look(input)
            if (attempt === 1) throw new Error('again')
            return null
          },
        })
        const pending = pendingCall(1, 'a.tool', structuredClone(args))
        const { gate, stop } = testGate(
          [defined],
          [
            {
              capability: 'a.tool',
              approve: true,
              constrain: (input) => {
                look(input)
                return true
              },
            },
          ],
          {
            callLog: log,
            digest: () => 'd',
            approver: {
              approve: async ({ args, digest }) => {
                look(args)
                return { decision: 'approved', digest }
              },
            },
          },
        )
        const delivery = await gate.call(pending, stop)
        if (codeOf(delivery) === 'value_refused') return // what cannot be copied is refused as a whole
        expect(codeOf(delivery)).toBe('ok')
        expect(seen).toHaveLength(5) // constraint, cost, approver, two attempts
        for (const one of seen) expect(one).toEqual(args)
        expect(log.intents[0]?.args).toEqual(args)
        expect(pending.args).toEqual(args)
      }),
      { numRuns: 60 },
    )
  })
})

describe('what an implementation learns of the guest', () => {
  it('is one life for all its calls, that tells of its end once, and cannot end it', async () => {
    const lives: unknown[] = []
    let ends = 0
    const keep = tool((_input, { life }) => {
      if (lives.length === 0) life.onEnd(() => (ends += 1))
      const forgotten = life.onEnd(() => (ends += 100))
      forgotten()
      lives.push(life)
      return life.ended
    })
    const mine = testGate([keep])
    expect([await mine.call('a.tool'), await mine.call('a.tool')].map(codeOf)).toEqual(['ok', 'ok'])
    const other = testGate([keep])
    await other.call('a.tool')
    expect([lives[0] === lives[1], lives[0] === lives[2]]).toEqual([true, false])
    expect(Object.keys(lives[0] as object)).toEqual(['ended', 'onEnd'])
    mine.stop.stop()
    expect([ends, (lives[0] as { ended: boolean }).ended, (lives[2] as { ended: boolean }).ended]).toEqual([
      ...[1, true, false],
    ])
  })

  it('bytes of what continues a capability count for its grant, and for their own', async () => {
    const open = tool(() => 'x'.repeat(10))
    const more = checkCapability({ ...open, name: 'a.more', continues: 'a.tool' } as Capability)
    const spent = async (grants: object[]): Promise<string[]> => {
      const { call } = testGate([open, more], grants as never)
      const codes: string[] = []
      for (const name of ['a.tool', 'a.more', 'a.more', 'a.tool']) codes.push(codeOf(await call(name)))
      return codes
    }
    const { bytes } = await testGate([open]).call('a.tool')
    const bytesIn = 2 * bytes + 1
    const out = 'budget_exhausted'
    expect(await spent([{ capability: 'a.tool', bytesIn }])).toEqual(['ok', 'ok', out, out])
    expect(await spent([{ capability: 'a.tool' }, { capability: 'a.more', bytesIn: bytes + 1 }])).toEqual([
      ...['ok', 'ok', out, 'ok'],
    ])
    expect(await spent([{ capability: 'a.tool', calls: 1 }])).toEqual(['ok', 'ok', 'ok', out])
  })
})
