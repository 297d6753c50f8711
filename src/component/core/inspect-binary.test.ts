import { describe, expect, it } from 'vitest'
import { assemble } from '../../wasm/assemble.testkit.ts'
import { inspectBinary } from './inspect-binary.ts'
import { prepareCore } from './prepare-core.ts'

const MODULE = assemble('(module (memory 1) (func (export "run")))')
const COMPONENT = new Uint8Array([0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0])
const text = (value: string): Uint8Array => new TextEncoder().encode(value)

describe('inspectBinary', () => {
  it('tells modules from components', () => {
    expect(inspectBinary(MODULE)).toMatchObject({ kind: 'module', bytes: MODULE.length })
    expect(inspectBinary(MODULE).sections.map(({ id }) => id)).toEqual([1, 3, 5, 7, 10])
    expect(inspectBinary(COMPONENT)).toMatchObject({ kind: 'component', sections: [] })
    expect(() => inspectBinary(COMPONENT, 'module')).toThrow(/a component, where a core module is meant/)
    expect(() => inspectBinary(MODULE, 'component')).toThrow(/a core module, where a component is meant/)
  })

  it.each([
    [new Uint8Array(0), 'empty', 0, /empty/],
    [text('(module (func))'), 'not wasm', 0, /WebAssembly text; assemble it/],
    [text('<!doctype html>'), 'not wasm', 0, /web page/],
    [text('version https://git-lfs'), 'not wasm', 0, /Git LFS/],
    [text('hello'), 'not wasm', 0, /does not begin/],
    [new Uint8Array([0, 0x61, 0x73]), 'truncated', 3, /5 bytes are missing/],
    [new Uint8Array([0, 0x61, 0x73, 0x6d, 2, 0, 0, 0]), 'unknown version', 4, /version 2/],
    [MODULE.slice(0, -3), 'truncated', MODULE.length - 4, /at least 3 bytes are missing/],
  ])('says what is wrong, where, and what to do (invariant 2): %#', (bytes, reason, offset, message) => {
    let thrown: unknown
    try {
      inspectBinary(bytes)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toMatchObject({ code: 'invalid_module', details: { reason, offset } })
    expect(String(thrown)).toMatch(message)
  })

  it('refuses what is too large before it looks at it', () => {
    expect(() => inspectBinary(MODULE, 'module', MODULE.length - 1)).toThrow(/at most/)
  })
})

describe('features that guests cannot have', () => {
  it.each([
    ['threads', '(module (memory 1 1 shared))'],
    ['memory64', '(module (memory i64 1))'],
    ['multi-memory', '(module (memory 1) (memory 1))'],
    [
      'relaxed-simd',
      '(module (func (export "f") (param v128) (result v128) (i8x16.relaxed_swizzle (local.get 0) (local.get 0))))',
    ],
  ])('refuses %s by name, with advice', (feature, module) => {
    let thrown: unknown
    try {
      prepareCore(assemble(module), { profile: 'v8', maxMemoryPages: 16 })
    } catch (error) {
      thrown = error
    }
    expect(thrown).toMatchObject({ code: 'unsupported_feature', details: { feature } })
    expect(String(thrown)).toMatch(/build/i)
  })
})
