import { describe, expect, it } from 'vitest'
import { assemble } from '../../wasm/assemble.testkit.ts'
import { prepareCore } from './prepare-core.ts'

const OPTIONS = { profile: 'v8', maxMemoryPages: 4 } as const
const I32_CONST = 0x41
const I64_CONST = 0x42

describe('prepareCore', () => {
  it('refuses what no engine takes, though it could be read and metered (invariant 1)', () => {
    const bytes = assemble('(module (func (export "f") (result i32) (i32.const 7)))')
    const at = bytes.lastIndexOf(I32_CONST)
    const wrong = bytes.slice()
    wrong[at] = I64_CONST
    expect(prepareCore(bytes, OPTIONS).manifest.functions).toBe(1)
    expect(() => prepareCore(wrong, OPTIONS)).toThrow(/is not valid/)
  })

  it('gives the same for the same, also of bytes that it wrote itself (invariant 3)', () => {
    const bytes = assemble('(module (memory 1) (func (export "f") (loop $l (br $l))))')
    expect(prepareCore(bytes, OPTIONS)).toEqual(prepareCore(bytes.slice(), OPTIONS))
    expect(() => prepareCore(prepareCore(bytes, OPTIONS).wasm, OPTIONS)).toThrow(/prepared already/)
  })

  it('lets tables grow so far, and a module keep those that it begins with, up to a million entries', () => {
    const entries = (min: number): number =>
      prepareCore(assemble(`(module (table ${min} funcref))`), OPTIONS).manifest.tableEntries
    expect([entries(10), entries(100_000), entries(700_000), entries(1_000_000)]).toEqual([
      100_000, 100_000, 700_000, 1_000_000,
    ])
    expect(() => entries(1_000_001)).toThrow(/at most 1000000 are allowed/)
    const several = '(module (table 600000 funcref) (table 500000 funcref))'
    expect(() => prepareCore(assemble(several), OPTIONS)).toThrow(/1100000 entries/)
  })
})
