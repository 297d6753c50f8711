import { describe, expect, it } from 'vitest'
import { readSample } from '../../../scripts/samples/read-sample.ts'
import { CaissonError } from '../../base/errors.ts'
import { describeComponent } from '../component-shape.ts'
import { readComponent } from './read-component.ts'

/** What becomes of bytes, as a code; anything but our own errors is a defect. */
async function codeOf(bytes: Uint8Array): Promise<string> {
  try {
    await describeComponent(readComponent(bytes).root)
    return 'read'
  } catch (error) {
    if (CaissonError.is(error)) return error.code
    throw error
  }
}

describe('readComponent', () => {
  it('refuses what was cut, wherever, and throws nothing else (invariant 1)', async () => {
    const bytes = await readSample('tool-as')
    const codes = new Set<string>()
    for (let end = 0; end < bytes.length; end += 1) codes.add(await codeOf(bytes.subarray(0, end)))
    // At the border of a section the rest may be a component of its own.
    expect([...codes].sort()).toEqual(['invalid_component', 'read'])
  })

  it('throws nothing of its own for any bit that is flipped', async () => {
    const bytes = await readSample('counter-user-c')
    const codes = new Set<string>()
    for (let bit = 0; bit < bytes.length * 8; bit += 7) {
      const flipped = new Uint8Array(bytes)
      flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7))
      codes.add(await codeOf(flipped))
    }
    expect([...codes].sort()).toEqual(['invalid_component', 'read', 'unsupported_feature'])
  })

  it('tells a core module from a component', async () => {
    expect(() => readComponent(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]))).toThrow(
      /core module, and no component/,
    )
  })
})
