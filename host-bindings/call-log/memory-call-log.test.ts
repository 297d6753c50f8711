import { describe, expect, it } from 'vitest'
import type { CallIntent } from '../../src/ports/call-log.ts'
import { createMemoryCallLog } from './memory-call-log.ts'

const intent = (id: number, args: unknown = {}): CallIntent => ({
  id,
  capability: 'prices.lookup',
  effect: 'read',
  idempotencyKey: `key-${id}`,
  args,
  askedAtMs: 0,
})

describe('a call log in memory', () => {
  it('2: gives back what was recorded, in order', () => {
    const log = createMemoryCallLog()
    log.intent(intent(1))
    log.intent(intent(2))
    log.result({ id: 2, ok: true, value: 7 })
    log.result({ id: 1, ok: false, code: 'timeout', message: 'late' })
    log.syncCalls([{ capability: 'clock.now', args: {}, ok: true, value: 1 }])
    expect(log.entries()).toMatchObject([
      { kind: 'intent', record: { id: 1 } },
      { kind: 'intent', record: { id: 2 } },
      { kind: 'result', record: { id: 2, value: 7 } },
      { kind: 'result', record: { id: 1, code: 'timeout' } },
      { kind: 'sync', record: { capability: 'clock.now' } },
    ])
    expect(log.dropped).toBe(0)
  })

  it('1: drops the oldest above its cap on entries, and says how many', () => {
    const log = createMemoryCallLog({ maxEntries: 2 })
    for (const id of [1, 2, 3, 4, 5]) log.intent(intent(id))
    expect(log.entries().map(({ record }) => 'id' in record && record.id)).toEqual([4, 5])
    expect(log.dropped).toBe(3)
  })

  it('1: drops the oldest above its cap on bytes, also the newest where it alone is too large', () => {
    const log = createMemoryCallLog({ maxBytes: 3_000 })
    log.intent(intent(1, 'x'.repeat(500)))
    log.intent(intent(2, 'x'.repeat(1_000)))
    expect(log.entries()).toHaveLength(1)
    log.intent(intent(3, 'x'.repeat(100_000)))
    expect(log.entries()).toHaveLength(0)
    expect(log.dropped).toBe(3)
    log.intent(intent(4))
    expect(log.entries()).toHaveLength(1)
  })

  it('refuses a cap that is none', () => {
    for (const maxEntries of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => createMemoryCallLog({ maxEntries })).toThrow(
        expect.objectContaining({ code: 'invalid_argument' }),
      )
    }
  })
})
