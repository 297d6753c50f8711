import { describe, expect, it } from 'vitest'
import { type CheckpointKeys, checkKeys, findKey } from './checkpoint-keys.ts'
import { parseCheckpointLimits } from './checkpoint-limits.ts'
import { ALL_KEYS, keyOf } from './container.testkit.ts'

describe('checkpoint keys', () => {
  it('are found by their id among the current and the older ones', () => {
    const ring = { current: keyOf('b', 2), older: [keyOf('a', 1)] }
    expect(findKey(ring, 'a')).toBe(ring.older[0])
    expect(findKey(ring, 'b')).toBe(ring.current)
    expect(findKey(ring, 'c')).toBeUndefined()
    expect(findKey(undefined, 'a')).toBeUndefined()
    expect(() => checkKeys(ALL_KEYS)).not.toThrow()
  })

  it.each<[string, CheckpointKeys]>([
    ['31 bytes', { mac: { current: { id: 'a', bytes: new Uint8Array(31) } } }],
    ['a text', { mac: { current: { id: 'a', bytes: 'x'.repeat(32) as never } } }],
    ['no id', { encryption: { current: keyOf('', 1) } }],
    ['an id with a space', { encryption: { current: keyOf('a b', 1) } }],
    ['two with one id', { mac: { current: keyOf('a', 1), older: [keyOf('a', 2)] } }],
    ['a purpose that does not exist', { maci: { current: keyOf('a', 1) } } as never],
    ['no ring', { mac: { id: 'a', key: '00' } } as never],
    ['a text for a ring', { mac: 'abc' } as never],
    ['no list of older ones', { mac: { current: keyOf('a', 1), older: keyOf('b', 2) as never } }],
    ['one for both purposes', { mac: { current: keyOf('a', 1) }, encryption: { current: keyOf('b', 1) } }],
  ])('are refused with a message that does not show them: %s', (_, keys) => {
    expect(() => checkKeys(keys)).toThrow(expect.objectContaining({ code: 'invalid_argument' }))
  })
})

describe('checkpoint limits', () => {
  it('have defaults, also where they are given as undefined', () => {
    expect(parseCheckpointLimits({ maxLinks: undefined as never })).toEqual({
      maxFileBytes: 268_435_456,
      maxMemoryBytes: 268_435_456,
      maxStateBytes: 16_777_216,
      maxLinks: 32,
    })
  })

  it.each([
    { maxLinks: -1 },
    { maxFileBytes: Number.NaN },
    { maxStateBytes: 1.5 },
    { maxMemoryBytes: 2 ** 40 },
  ])('are refused unless they are whole numbers in range: %o', (limits) => {
    expect(() => parseCheckpointLimits(limits)).toThrow(expect.objectContaining({ code: 'invalid_limit' }))
  })
})
