/** Property tests: what a host gives to a guest and reads back is the same graph. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arbitraryPrimitive, arbitraryValue } from '../../values/arbitrary-value.testkit.ts'
import { copyValue } from '../../values/copy-value.ts'
import { differenceOf } from '../../values/difference-of.testkit.ts'
import { walkValue } from '../../values/value-walk.ts'
import { LIMITS, TestGuest } from './bridge.testkit.ts'

const guest = new TestGuest()

/** Copies: a view of a part of a buffer that nothing else holds has become a view of just its own bytes. */
const lossless = arbitraryValue().map((value) => copyValue(value))

function roundTrip(value: unknown): void {
  const back = guest.roundTrip(value)
  const found = differenceOf(value, back)
  if (found !== undefined) throw new Error(`not the same: ${found}`)
}

describe('host to guest and back', () => {
  it('keeps every primitive', () => {
    expect(() => fc.assert(fc.property(arbitraryPrimitive, roundTrip), { numRuns: 1000 })).not.toThrow()
  })

  it('keeps graphs of all kinds, with their sharing, cycles and holes', () => {
    expect(() => fc.assert(fc.property(lossless, roundTrip), { numRuns: 1500 })).not.toThrow()
  })

  it('counts the same canonical size in both directions as the walk over the host value', () => {
    const property = fc.property(lossless, (value) => {
      const { bytes } = walkValue(value, LIMITS, 'value', false)
      const cell = guest.writer.write(value, LIMITS)
      const written = guest.writer.lastBytes
      guest.reader.read(cell, LIMITS)
      const read = guest.reader.lastBytes
      guest.exports.QTS_FreeValuePointer(guest.context, cell)
      return written === bytes && read === bytes
    })
    expect(() => fc.assert(property, { numRuns: 500 })).not.toThrow()
  })

  it('leaves no object behind in the guest', () => {
    const count = (): number => new Uint32Array(guest.memory.buffer)[(guest.runtime + 16) >>> 2] ?? 0
    guest.cell('0')
    const samples = fc.sample(lossless, 50)
    for (const value of samples) guest.roundTrip(value)
    guest.evaluate('(()=>{const a={};a.a=a})()')
    const before = count()
    for (let i = 0; i < 10; i += 1) for (const value of samples) guest.roundTrip(value)
    // Cycles wait for the collector: what stays must not grow with the number of writes.
    expect(count() - before).toBeLessThan(20_000)
  })
})
