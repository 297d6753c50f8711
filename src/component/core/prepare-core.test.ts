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
})
