import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fromBase64, toBase64 } from './base64.ts'
import { CaissonError } from './errors.ts'

it('base64 is what Node writes and reads', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 20_000 }), (bytes) => {
      const text = toBase64(bytes)
      expect(text).toBe(Buffer.from(bytes).toString('base64'))
      expect(fromBase64(text)).toEqual(bytes)
    }),
    { numRuns: 50 },
  )
})

it('base64 with spaces, without padding or of another alphabet is refused', () => {
  for (const text of ['AQ', 'AQ=', 'A Q=', 'AQ==\n', '-_==', 'A===', 'é===']) {
    expect(() => fromBase64(text)).toThrow(CaissonError)
  }
})

it('base64 of many megabytes is read, and refused by its last character', () => {
  const text = toBase64(new Uint8Array(6_000_000).fill(7))
  expect(fromBase64(text).length).toBe(6_000_000)
  expect(() => fromBase64(`${text.slice(0, -4)}AA A`)).toThrow(CaissonError)
})
