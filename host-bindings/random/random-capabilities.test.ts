import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { inputIssues, invokeBinding } from '../invoke-binding.testkit.ts'
import { createSeededEntropy } from '../system/system-entropy.ts'
import { createRandomCapabilities } from './random-capabilities.ts'

const capabilities = createRandomCapabilities()

describe('random capabilities', () => {
  it('make UUIDs of version 4, each one new', () => {
    const uuids = Array.from({ length: 50 }, () => invokeBinding(capabilities, 'random.uuid', {}))
    for (const uuid of uuids) {
      expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    }
    expect(new Set(uuids).size).toBe(50)
  })

  it('make as many bytes as asked, up to a cap', () => {
    expect(invokeBinding(capabilities, 'random.bytes', { length: 5 })).toHaveLength(5)
    expect(inputIssues(capabilities, 'random.bytes', { length: 65_537 })).toContain('65536')
    expect(inputIssues(capabilities, 'random.bytes', { length: -1 })).toContain('from 0')
  })

  it('keep whole numbers inside their range, whatever the range', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.nat({ max: 2 ** 31 }), (min, span) => {
        const max = Math.min(min + span, Number.MAX_SAFE_INTEGER)
        const drawn = Number(invokeBinding(capabilities, 'random.integer', { min, max }))
        expect(drawn >= min && drawn <= max).toBe(true)
      }),
      { numRuns: 200 },
    )
  })

  it('reach every number of a range, and refuse an impossible one', () => {
    const drawn = Array.from({ length: 300 }, () =>
      invokeBinding(capabilities, 'random.integer', { min: 1, max: 6 }),
    )
    expect([...new Set(drawn)].sort((left, right) => Number(left) - Number(right))).toEqual([
      1, 2, 3, 4, 5, 6,
    ])
    const refused = expect.objectContaining({ code: 'invalid_arguments' })
    expect(() => invokeBinding(capabilities, 'random.integer', { min: 2, max: 1 })).toThrow(refused)
    const wide = { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER }
    expect(() => invokeBinding(capabilities, 'random.integer', wide)).toThrow(refused)
  })

  it('repeat themselves over a seeded source', () => {
    const draw = () => {
      const seeded = createRandomCapabilities({ entropy: createSeededEntropy(7) })
      return [
        invokeBinding(seeded, 'random.uuid', {}),
        invokeBinding(seeded, 'random.integer', { min: 0, max: 9 }),
      ]
    }
    expect(draw()).toEqual(draw())
  })
})
