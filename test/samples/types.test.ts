/** The world `types`: each type of WIT, in and out, in C and in JavaScript. */
import { expect } from 'vitest'
import { describeSample } from './both-builds.ts'
import { type Exports, refusalOf, transpile } from './transpiled.ts'

const open = async (wasm: Uint8Array): Promise<Exports> => (await transpile(wasm, 'types')).instantiate()

for (const name of ['types-c', 'types-js'])
  await describeSample(name, {
    'adds numbers of every width, around their ends': async (wasm) => {
      const guest = await open(wasm)
      expect(guest.addU8(250, 10)).toBe(4)
      expect(guest.addS8(127, 1)).toBe(-128)
      expect(guest.addU16(65_535, 2)).toBe(1)
      expect(guest.addS16(-32_768, -1)).toBe(32_767)
      expect(guest.addU32(4_294_967_295, 1)).toBe(0)
      expect(guest.addS32(2_147_483_647, 1)).toBe(-2_147_483_648)
      expect(guest.addU64(2n ** 52n, 1n)).toBe(2n ** 52n + 1n)
      expect(guest.addS64(-(2n ** 52n), -1n)).toBe(-(2n ** 52n) - 1n)
      if (name === 'types-c') {
        // In JavaScript they are numbers (guest/samples/types-js).
        expect(guest.addU64(2n ** 64n - 1n, 2n)).toBe(1n)
        expect(guest.addS64(-(2n ** 63n), -1n)).toBe(2n ** 63n - 1n)
      }
      expect(guest.addF32(0.1, 0.2)).toBe(Math.fround(Math.fround(0.1) + Math.fround(0.2)))
      expect(guest.addF64(0.1, 0.2)).toBe(0.1 + 0.2)
      expect(guest.sum(...Array.from({ length: 17 }, () => 4_294_967_295))).toBe(17n * 4_294_967_295n)
    },
    'takes and gives bool, char and strings': async (wasm) => {
      const guest = await open(wasm)
      expect([guest.negate(true), guest.negate(false)]).toEqual([false, true])
      expect(['a', '\ud7ff', '\u{10ffff}', '😀'].map((char) => guest.nextChar(char))).toEqual([
        'b',
        '\ue000',
        '\0',
        '😁',
      ])
      expect(guest.concat('grün ', '😀')).toBe('grün 😀')
      expect(guest.concat('', '')).toBe('')
      expect(guest.concat('a\0', 'b')).toBe('a\0b')
    },
    'takes and gives lists': async (wasm) => {
      const guest = await open(wasm)
      expect([...guest.reverse(new Uint32Array([1, 2, 3]))]).toEqual([3, 2, 1])
      expect([...guest.reverse(new Uint32Array())]).toEqual([])
      expect([...guest.lengths(['', 'a', 'ü', '😀'])]).toEqual([0, 1, 2, 4])
      expect([...guest.lengths([])]).toEqual([])
    },
    'takes and gives records, tuples, enums and flags': async (wasm) => {
      const guest = await open(wasm)
      expect(guest.mirror({ x: -1, y: 2 })).toEqual({ x: 2, y: -1 })
      const person = { name: 'Ada', age: 255, tags: ['a', '', 'ü'] }
      expect(guest.birthday(person)).toEqual({ ...person, age: 0 })
      expect(guest.birthday({ name: '', age: 1, tags: [] })).toEqual({ name: '', age: 2, tags: [] })
      expect(guest.swap([7, 'seven'])).toEqual(['seven', 7])
      expect(['red', 'green', 'blue'].map((colour) => guest.nextColour(colour))).toEqual([
        'green',
        'blue',
        'red',
      ])
      expect(guest.toggle({ read: true, write: false, execute: true })).toEqual({
        read: false,
        write: true,
        execute: false,
      })
    },
    'takes and gives variants, options and results': async (wasm) => {
      const guest = await open(wasm)
      const square = [
        [0, 0],
        [2, 0],
        [2, 2],
        [0, 2],
      ].map(([x, y]) => ({ x, y }))
      expect(guest.area({ tag: 'empty' })).toBe(0)
      expect(guest.area({ tag: 'circle', val: 2 })).toBeCloseTo(4 * Math.PI, 12)
      expect(guest.area({ tag: 'label', val: 'ü' })).toBe(2)
      expect(guest.area({ tag: 'polygon', val: square })).toBe(8)
      expect(guest.morph({ tag: 'empty' })).toEqual({ tag: 'empty' })
      expect(guest.morph({ tag: 'circle', val: 1 })).toEqual({ tag: 'label', val: 'circle' })
      expect(guest.morph({ tag: 'label', val: 'abc' })).toEqual({ tag: 'polygon', val: [{ x: 3, y: 0 }] })
      expect(guest.morph({ tag: 'polygon', val: square })).toEqual({ tag: 'circle', val: 4 })
      expect([guest.half(8), guest.half(7), guest.half(undefined)]).toEqual([4, undefined, undefined])
      expect([guest.parse('-2147483648'), guest.parse('12')]).toEqual([-2_147_483_648, 12])
      for (const text of ['', '-', '1x', '2147483648'])
        expect(
          refusalOf(() => guest.parse(text)),
          text,
        ).toBe('not a number')
      expect(guest.check(true)).toBeUndefined()
      expect(refusalOf(() => guest.check(false))).toBeUndefined()
    },
    'answers the ten-thousandth call as the first': async (wasm) => {
      const guest = await open(wasm)
      for (let i = 0; i < 10_000; i++) guest.concat('x'.repeat(100), String(i))
      expect(guest.concat('a', 'b')).toBe('ab')
    },
  })
