import fc from 'fast-check'
import { expect, it } from 'vitest'
import { WaitingRecords } from './waiting-records.ts'

const HEAD = 5
const records = fc.array(fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.uint8Array({ maxLength: 9_000 })), {
  maxLength: 8,
})

it('gives back copies of what was pushed, each behind its head, whatever becomes of the others', () => {
  fc.assert(
    fc.property(fc.array(records, { maxLength: 4 }), (batches) => {
      const waiting = new WaitingRecords(HEAD)
      const taken = batches.map((batch) => {
        for (const record of batch) {
          const given = record.slice()
          waiting.push(given)
          given.fill(0xff)
        }
        expect(waiting.length).toBe(batch.length)
        const some = waiting.take()
        for (const one of some) one.fill(0xee, 0, HEAD)
        return some
      })
      for (const [i, batch] of batches.entries()) {
        expect(taken[i]?.map((one) => one.slice(HEAD))).toEqual(batch)
        for (const one of taken[i] ?? []) expect(one.slice(0, HEAD)).toEqual(new Uint8Array(HEAD).fill(0xee))
      }
    }),
    { numRuns: 50 },
  )
})
