import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'
import { fromHex, toHex } from './bytes.ts'
import { CaissonError } from './errors.ts'

function code(act: () => unknown): string | undefined {
  try {
    act()
    return undefined
  } catch (error) {
    return CaissonError.is(error) ? error.code : `uncontained: ${String(error)}`
  }
}

describe('hexadecimal', () => {
  it('round-trips bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(fromHex(toHex(bytes))).toEqual(bytes)
      }),
    )
  })

  it('refuses anything else', () => {
    for (const text of ['0', '0g', ' 00', '0x00', '٠٠']) expect(code(() => fromHex(text))).toBe('corrupted')
  })
})

describe('ByteReader', () => {
  it('reads what ByteWriter wrote', () => {
    const anyText = fc.string({ unit: 'binary', maxLength: 6000 })
    const latin1 = fc.string({ unit: fc.nat(255).map((unit) => String.fromCharCode(unit)) })
    const number = fc.oneof(fc.maxSafeNat(), fc.constantFrom(0, 127, 128, 16_383, 16_384, 2 ** 53 - 1))
    fc.assert(
      fc.property(
        fc.array(number),
        anyText,
        latin1,
        fc.double(),
        fc.uint8Array(),
        (numbers, wide, narrow, float, raw) => {
          const writer = new ByteWriter()
          for (const value of numbers) writer.varint(value)
          writer.utf16(wide)
          writer.float64(float)
          writer.latin1(narrow)
          writer.raw(raw)
          const reader = new ByteReader(writer.finish())
          expect(numbers.map(() => reader.varint())).toEqual(numbers)
          expect(reader.utf16(wide.length)).toBe(wide)
          expect(reader.float64()).toBe(float)
          expect(reader.latin1(narrow.length)).toBe(narrow)
          expect(reader.raw(raw.length)).toEqual(raw)
          expect(reader.remaining).toBe(0)
        },
      ),
    )
  })

  it('reads nothing outside of its bytes (invariant 1)', () => {
    const inside = new Uint8Array(16).subarray(4, 6)
    const reads: ((reader: ByteReader) => unknown)[] = [
      (reader) => reader.raw(3),
      (reader) => reader.float64(),
      (reader) => reader.utf16(2),
      (reader) => reader.latin1(2 ** 53 - 1),
    ]
    for (const read of reads) expect(code(() => read(new ByteReader(inside)))).toBe('corrupted')
    expect(code(() => new ByteReader(new Uint8Array()).byte())).toBe('corrupted')
  })

  it('refuses long and too large varints (invariant 2)', () => {
    for (const bytes of [
      [0x80, 0],
      [0xff, 0x80, 0],
      [0x80],
      new Array(8).fill(0xff),
      new Array(20).fill(0x80),
    ]) {
      expect(code(() => new ByteReader(new Uint8Array(bytes)).varint())).toBe('corrupted')
    }
  })
})
