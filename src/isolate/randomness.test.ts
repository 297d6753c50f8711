import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CaissonError } from '../base/errors.ts'
import { RandomStreams, seedFromInteger } from './randomness.ts'

function floats(streams: RandomStreams, count = 8): number[] {
  return Array.from({ length: count }, () => streams.mathRandom())
}

function bytes(streams: RandomStreams, count = 64): Uint8Array {
  const target = new Uint8Array(count)
  streams.fillCrypto(target)
  return target
}

describe('RandomStreams', () => {
  it('give the same for the same seed, on every runtime (invariant 1)', () => {
    const streams = new RandomStreams(seedFromInteger(1))
    // Computed by an independent implementation in Python.
    expect(floats(streams, 2)).toEqual([0.5906265623569373, 0.7293460710198933])
    expect([...bytes(streams, 4)]).toEqual([145, 209, 173, 9])
    expect(floats(new RandomStreams(seedFromInteger(1)))).toEqual(
      floats(new RandomStreams(seedFromInteger(1))),
    )
  })

  it('differ for different seeds, streams and forks (invariants 2 and 3)', () => {
    const parent = new RandomStreams(seedFromInteger(1))
    const others = [
      new RandomStreams(seedFromInteger(2)),
      parent.fork('a'),
      parent.fork('b'),
      parent.fork('a').fork('a'),
      parent.fork(''),
    ]
    const sequences = [parent, ...others].map((streams) => [floats(streams).join(), bytes(streams).join()])
    expect(new Set(sequences.flat()).size).toBe(2 * sequences.length)
    expect(floats(parent.fork('a'))).toEqual(floats(parent.fork('a')))
  })

  it('are not moved by each other or by forks', () => {
    const alone = new RandomStreams(seedFromInteger(7))
    const mixed = new RandomStreams(seedFromInteger(7))
    const seen: number[] = []
    for (let i = 0; i < 8; i++) {
      bytes(mixed, i)
      mixed.fork('x')
      seen.push(mixed.mathRandom())
    }
    expect(seen).toEqual(floats(alone))
  })

  it('give the same bytes however they are asked for', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(70), { maxLength: 10 }), (counts) => {
        const pieces = new RandomStreams(seedFromInteger(3))
        const got = counts.flatMap((count) => [...bytes(pieces, count)])
        expect(got).toEqual([...bytes(new RandomStreams(seedFromInteger(3)), got.length)])
      }),
    )
  })

  it('go on from their state as if never stopped', () => {
    fc.assert(
      fc.property(fc.nat(5), fc.nat(100), (numbers, count) => {
        const streams = new RandomStreams(seedFromInteger(4))
        floats(streams, numbers)
        bytes(streams, count)
        const again = RandomStreams.fromState(JSON.parse(JSON.stringify(streams.state())))
        expect(floats(again)).toEqual(floats(streams))
        expect(bytes(again)).toEqual(bytes(streams))
      }),
    )
  })

  it('are spread evenly', () => {
    const streams = new RandomStreams(seedFromInteger(5))
    const tenths = floats(streams, 20_000).map((float) => Math.floor(float * 10))
    const counts = Array.from({ length: 10 }, (_, tenth) => tenths.filter((found) => found === tenth).length)
    for (const count of counts) expect(Math.abs(count - 2000)).toBeLessThan(300)
    const ones = bytes(streams, 20_000).reduce((sum, byte) => sum + (byte & 1), 0)
    expect(Math.abs(ones - 10_000)).toBeLessThan(500)
  })

  it('keep their own copy of the seed', () => {
    const seed = seedFromInteger(6)
    const streams = new RandomStreams(seed)
    seed.fill(0)
    expect(floats(streams)).toEqual(floats(new RandomStreams(seedFromInteger(6))))
  })

  it('refuse impossible seeds and states', () => {
    expect(() => new RandomStreams(new Uint8Array(31))).toThrow(CaissonError)
    for (const n of [-1, 0.5, Number.NaN, 2 ** 53]) expect(() => seedFromInteger(n)).toThrow(CaissonError)
    const good = new RandomStreams(seedFromInteger(1)).state()
    for (const bad of [
      { ...good, seed: 'ab' },
      { ...good, seed: 'zz'.repeat(32) },
      { ...good, mathRandom: [1, 2, 3] as never },
      { ...good, mathRandom: [1, 2, 3, -4] as never },
      { ...good, cryptoBytes: -1 },
      { ...good, cryptoBytes: 2 ** 53 },
    ]) {
      expect(() => RandomStreams.fromState(bad)).toThrow(CaissonError)
    }
  })
})
