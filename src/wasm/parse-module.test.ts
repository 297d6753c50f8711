import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CaissonError } from '../base/errors.ts'
import { assemble } from './assemble.testkit.ts'
import { encodeModule, parseModule } from './binary.ts'
import { meter } from './meter.ts'
import { MAGIC } from './section.ts'

const RICH = assemble(`(module
  (import "env" "f" (func $f (param i32) (result i32)))
  (import "env" "m" (memory 1 4))
  (import "env" "g" (global $g (mut i64)))
  (tag $t (param i32 f64))
  (table $a 3 9 funcref) (table $b 2 externref)
  (global $h (mut f32) (f32.const 1.5))
  (global $v v128 (v128.const i32x4 1 2 3 4))
  (global $r funcref (ref.func $two))
  (elem (table $a) (i32.const 1) func $f $two)
  (elem $passive funcref (ref.null func) (ref.func $f))
  (elem declare func $three)
  (data (i32.const 8) "active") (data $p "passive")
  (type $multi (func (param i32 i32) (result i32 i64)))
  (func $two (param i32) (result i32)
    (block $out (loop $l (br_table $out $l $out (local.get 0))))
    (drop (ref.func $three))
    (memory.init $p (i32.const 0) (i32.const 0) (i32.const 3))
    (drop (i8x16.shuffle 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 (global.get $v) (global.get $v)))
    (call_indirect $a (param i32) (result i32) (local.get 0) (i32.const 2)))
  (func $three (type $multi) (local f64 i32 i32)
    (try (do (throw $t (i32.const 1) (f64.const 2))) (catch_all))
    (i32.const 1) (i64.const -9223372036854775808))
  (func $start) (start $start)
  (export "two" (func $two)) (export "table" (table $b)) (export "tag" (tag $t)))`)

/** Everything that reads modules, on hostile bytes: any end is good but a foreign exception. */
function readAll(bytes: Uint8Array): void {
  try {
    encodeModule(parseModule(bytes))
    meter(bytes, { profile: 'v8' })
  } catch (error) {
    if (CaissonError.is(error, 'invalid_module')) {
      expect(error.message).toMatch(/byte \d+|reserved for metering/)
      return
    }
    if (CaissonError.is(error, 'unsupported_feature')) return
    throw error
  }
}

const section = (id: number, ...content: number[]): Uint8Array =>
  Uint8Array.of(...MAGIC, id, content.length, ...content)

describe('parseModule', () => {
  it('gives back a module that encodes to the same bytes', () => {
    expect(encodeModule(parseModule(RICH))).toEqual(RICH)
  })

  it('refuses every truncation (invariant 1)', () => {
    for (let length = 0; length < RICH.length; length++) {
      const cut = RICH.subarray(0, length)
      readAll(cut)
      if (length < 8) expect(() => parseModule(cut)).toThrow(CaissonError)
    }
  })

  it('survives every flipped bit (invariant 1)', () => {
    for (let bit = 0; bit < RICH.length * 8; bit += 11) {
      const flipped = RICH.slice()
      flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7))
      readAll(flipped)
    }
  })

  it('survives random bytes, after a good header too (invariant 1)', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (bytes, header) => {
        readAll(header ? Uint8Array.of(...MAGIC, ...bytes) : bytes)
      }),
      { numRuns: 1_000 },
    )
  })

  it('survives spliced pieces of a good module (invariant 1)', () => {
    const position = fc.nat(RICH.length - 1)
    fc.assert(
      fc.property(position, position, position, (from, length, to) => {
        const bytes = RICH.slice()
        bytes.copyWithin(to, from, from + (length & 31))
        readAll(bytes)
      }),
      { numRuns: 1_000 },
    )
  })

  it('believes no count that the bytes cannot hold', () => {
    const huge = [0xff, 0xff, 0xff, 0xff, 0x0f]
    for (const id of [1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 13]) {
      expect(() => parseModule(section(id, ...huge))).toThrowError(
        expect.objectContaining({ code: 'invalid_module', details: { offset: 10 } }),
      )
    }
  })

  it('refuses numbers that are too long or too large', () => {
    expect(() => parseModule(section(8, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00))).toThrow(/32 bits/)
    expect(() => parseModule(section(8, 0xff, 0xff, 0xff, 0xff, 0x7f))).toThrow(/32 bits/)
  })

  it('refuses sections out of order, repeated, unknown or with bytes left over', () => {
    const type = [1, 1, 0]
    const empty = [3, 1, 0]
    expect(() => parseModule(Uint8Array.of(...MAGIC, ...empty, ...type))).toThrow(/order/)
    expect(() => parseModule(Uint8Array.of(...MAGIC, ...type, ...type))).toThrow(/order/)
    expect(() => parseModule(section(14, 0))).toThrow(/Unknown section/)
    expect(() => parseModule(section(1, 0, 0))).toThrow(/longer/)
  })

  it('says that a component is none of its business', () => {
    expect(() => parseModule(Uint8Array.of(0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0))).toThrow(/component/)
  })

  it('refuses by name what it does not know how to meter', () => {
    const cases: readonly (readonly [Uint8Array, RegExp])[] = [
      [section(1, 1, 0x5f, 0), /GC/],
      [section(1, 1, 0x4e, 1, 0x60, 0, 0), /GC/],
      [section(1, 1, 0x5d, 0), /stack switching/],
      [section(1, 1, 0x60, 1, 0x6e, 0), /garbage-collected/],
      [section(2, 1, 0, 0, 0x7f, 0), /compact imports/],
      [section(5, 1, 0x08, 0, 0), /custom page sizes/],
      [section(6, 1, 0x7f, 3, 0x41, 0, 0x0b), /shared-everything/],
      [section(6, 1, 0x7f, 0, 0xfb, 0x1c, 0x0b), /GC/],
    ]
    for (const [bytes, feature] of cases) {
      expect(() => parseModule(bytes)).toThrowError(
        expect.objectContaining({
          code: 'unsupported_feature',
          details: expect.objectContaining({ feature: expect.stringMatching(feature) }),
        }),
      )
    }
  })
})
