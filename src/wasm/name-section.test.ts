import { describe, expect, it } from 'vitest'
import { ByteWriter } from './byte-writer.ts'
import type { CustomSection } from './module.ts'
import { mapNameSection } from './name-section.ts'

/** Function names 0 "a" and 5 "b", then one local of function 5. */
function nameSection(): CustomSection {
  const functions = new ByteWriter()
  functions.u32(2)
  functions.u32(0)
  functions.name('a')
  functions.u32(5)
  functions.name('b')
  const locals = new ByteWriter()
  for (const value of [1, 5, 1, 0]) locals.u32(value)
  locals.name('x')
  const all = new ByteWriter()
  all.byte(1)
  all.sized(functions.bytes())
  all.byte(2)
  all.sized(locals.bytes())
  return { name: 'name', bytes: all.copy(), after: 11 }
}

/** Bytes of the subsection of function names for functions `a` and `b`. */
const functionNames = (a: number, b: number): readonly number[] => [1, 7, 2, a, 1, 97, b, 1, 98]

describe('the name section', () => {
  it('follows functions that move', () => {
    const { bytes } = mapNameSection(nameSection(), (index) => index + 1)
    expect([...bytes]).toEqual([...functionNames(1, 6), 2, 6, 1, 6, 1, 0, 1, 120])
  })

  it('loses what does not parse, and nothing else', () => {
    const whole = nameSection()
    const cut = { ...whole, bytes: whole.bytes.subarray(0, whole.bytes.length - 2) }
    expect([...mapNameSection(cut, (index) => index).bytes]).toEqual(functionNames(0, 5))
    const broken = { ...whole, bytes: Uint8Array.of(1, 0xff, 0xff, 0xff, 0xff, 0x0f) }
    expect(mapNameSection(broken, (index) => index).bytes).toHaveLength(0)
  })
})
