import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SeededRandom } from '../../../test/seeded-random.ts'
import { applyStateChanges, encodeStateChanges } from './state-changes.ts'

/** States that have much in common, in other places. */
const piece = fc.constantFrom(
  'abcdefgh',
  'the quick brown fox ',
  '0000000000000000',
  'x',
  'yz',
  'limits{fuel:1}',
)
const state = fc.array(piece, { maxLength: 30 }).map((pieces) => new TextEncoder().encode(pieces.join('')))

describe('changes of a state', () => {
  it('turn the state before into the state after (invariant 1)', () => {
    fc.assert(
      fc.property(fc.oneof(state, fc.uint8Array()), fc.oneof(state, fc.uint8Array()), (before, after) => {
        const changes = encodeStateChanges(before, after) as Uint8Array
        expect(applyStateChanges(before, changes, after.length)).toEqual(after)
      }),
      { numRuns: 500 },
    )
  })

  it('take a few bytes for a number that changed and a call that came', () => {
    const text = (fuel: number, more = ''): Uint8Array =>
      new TextEncoder().encode(
        `{"limits":{"memoryBytes":67108864,"calls":100},"fuel":${fuel},"pending":[1${more}],"seed":"0123456789"}`,
      )
    const [before, after] = [text(123_456), text(123_999, ',2,3')]
    const changes = encodeStateChanges(before, after) as Uint8Array
    expect(applyStateChanges(before, changes, after.length)).toEqual(after)
    expect(changes.length).toBeLessThan(22)
    expect(encodeStateChanges(before, before.slice())).toHaveLength(3)
  })

  it('are found in large states that have most in common, and take what is new', () => {
    const random = new SeededRandom(7)
    const large = Uint8Array.from({ length: 700_000 }, () => random.below(256))
    const added = Uint8Array.from({ length: 3_000 }, () => random.below(256))
    const after = new Uint8Array(703_000)
    after.set(large.subarray(0, 250_000))
    after.set(added, 250_000)
    after.set(large.subarray(250_000), 253_000)
    after[100] = (after[100] ?? 0) ^ 1
    after[600_000] = (after[600_000] ?? 0) ^ 1
    for (const [from, to] of [
      [large, after],
      [after, large],
    ] as const) {
      const changes = encodeStateChanges(from, to) as Uint8Array
      // Compared as a whole: `toEqual` looks at each byte by itself.
      expect(Buffer.compare(applyStateChanges(from, changes, to.length), to)).toBe(0)
      expect(changes.length).toBeLessThan(5_000)
    }
  })

  it('are not sought in states that are very large, or large and new', () => {
    const random = new SeededRandom(8)
    const noise = (): Uint8Array => Uint8Array.from({ length: 70_000 }, () => random.below(256))
    expect(encodeStateChanges(noise(), noise())).toBeUndefined()
    const most = 2 * 1024 * 1024
    expect(encodeStateChanges(new Uint8Array(most + 1), new Uint8Array(1))).toBeUndefined()
    expect(encodeStateChanges(new Uint8Array(1), new Uint8Array(most + 1))).toBeUndefined()
  })

  it('read from any bytes stay inside of the state, or are refused (invariant 2)', () => {
    fc.assert(
      fc.property(
        fc.uint8Array(),
        fc.uint8Array({ maxLength: 40 }),
        fc.nat(300),
        (before, changes, length) => {
          const untouched = before.slice()
          try {
            expect(applyStateChanges(before, changes, length)).toHaveLength(length)
          } catch (error) {
            expect(error).toMatchObject({ code: 'corrupted' })
          }
          expect(before).toEqual(untouched)
        },
      ),
      { numRuns: 2_000 },
    )
  })
})
