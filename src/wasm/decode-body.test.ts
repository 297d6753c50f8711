import { describe, expect, it } from 'vitest'
import { CaissonError } from '../base/errors.ts'
import type { CodeContext } from './code-context.ts'
import { decodeBody } from './decode-body.ts'
import { DecodedBody } from './decoded-body.ts'
import { OP } from './opcode-table.ts'
import { I32, I64 } from './value-type.ts'

const CONTEXT: CodeContext = {
  types: [
    { params: [], results: [] },
    { params: [I32, I32], results: [I64] },
  ],
  functions: [0, 1],
  importedFunctions: 1,
  tables: [{ element: 0x70, limits: { min: 1, index64: false, shared: false } }],
  memories: [{ min: 1, index64: false, shared: false }],
  globals: 2,
  tags: [0],
  elements: 1,
  data: 1,
}

/** Decodes code (without locals) of function 1, whose type is (i32, i32) -> i64. */
function decode(...code: number[]): DecodedBody {
  const body = new DecodedBody()
  decodeBody(CONTEXT, { bytes: Uint8Array.of(0, ...code), offset: 100 }, 1, body)
  return body
}

describe('decodeBody', () => {
  it('reads every instruction with its immediates', () => {
    const body = decode(0x20, 1, 0x41, 0x7f, 0x6a, 0x1a, 0x0b)
    expect([...body.opcodes.items.subarray(0, body.length)]).toEqual([0x20, 0x41, 0x6a, 0x1a, 0x0b])
    expect([...body.starts.items.subarray(0, 6)]).toEqual([1, 3, 5, 6, 7, 8])
    expect(body.first.at(1)).toBe(-1)
    expect(body.locals).toBe(2)
  })

  it('lets code reach nothing that is not there (invariant 1)', () => {
    const cases: readonly (readonly [what: string, code: readonly number[]])[] = [
      ['a local', [0x20, 2, 0x0b]],
      ['a global', [0x23, 2, 0x0b]],
      ['a function', [0x10, 2, 0x0b]],
      ['a function reference', [0xd2, 2, 0x0b]],
      ['a type', [0x11, 2, 0, 0x0b]],
      ['a table', [0x25, 1, 0x0b]],
      ['a memory', [0x28, 0x42, 1, 0, 0x0b]],
      ['a memory size', [0x3f, 1, 0x0b]],
      ['a tag', [0x08, 1, 0x0b]],
      ['a data segment', [0xfc, 9, 1, 0x0b]],
      ['an element segment', [0xfc, 13, 1, 0x0b]],
      ['a label', [0x0c, 1, 0x0b]],
      ['a label in a table', [0x0e, 1, 0, 1, 0x0b]],
      ['a block type', [0x02, 2, 0x0b, 0x0b]],
    ]
    for (const [what, code] of cases) {
      expect(() => decode(...code), what).toThrowError(expect.objectContaining({ code: 'invalid_module' }))
    }
  })

  it('demands that constructs are closed, in the right order', () => {
    for (const code of [
      [0x02, 0x40, 0x0b],
      [0x0b, 0x0b],
      [0x05, 0x0b],
      [0x02, 0x40, 0x05, 0x0b, 0x0b],
      [0x04, 0x40, 0x05, 0x05, 0x0b, 0x0b],
      [0x19, 0x0b],
      [0x06, 0x40, 0x19, 0x07, 0, 0x0b, 0x0b],
      [0x06, 0x40, 0x18, 5],
      [0x09, 0, 0x0b],
      [0x01],
    ]) {
      expect(() => decode(...code)).toThrow(CaissonError)
    }
  })

  it('names the feature, the function and the offset of what it refuses', () => {
    expect(() => decode(0x01, 0xfb, 0x00, 0x0b)).toThrowError(
      expect.objectContaining({
        code: 'unsupported_feature',
        details: { feature: 'garbage collection (GC)', function: 1, offset: 102 },
      }),
    )
    expect(() => decode(0xfe, 0x02, 2, 0, 0x0b)).toThrowError(
      expect.objectContaining({ code: 'unsupported_feature' }),
    )
    expect(() => decode(0x27, 0x0b)).toThrowError(expect.objectContaining({ code: 'invalid_module' }))
  })

  it('finds the greatest height of the operand stack', () => {
    expect(decode(0x0b).maxStack).toBe(0)
    expect(decode(0x20, 0, 0x20, 0, 0x20, 0, 0x6a, 0x6a, 0x1a, 0x0b).maxStack).toBe(3)
    expect(decode(0x20, 0, 0x20, 0, 0x10, 1, 0x1a, 0x0b).maxStack).toBe(2)
    expect(decode(0x00, 0x6a, 0x6a, 0x20, 0, 0x1a, 0x0b).maxStack).toBe(1)
    const nested = decode(0x41, 1, 0x02, 0x7f, 0x41, 1, 0x41, 2, 0x6a, 0x0b, 0x6a, 0x1a, 0x0b)
    expect(nested.maxStack).toBe(3)
  })

  it('takes a hundred thousand nested blocks (invariant 2)', () => {
    const depth = 100_000
    const code = [
      ...new Array<number>(depth).fill(0).flatMap(() => [0x02, 0x40]),
      ...new Array(depth + 1).fill(0x0b),
    ]
    const bytes = Uint8Array.from([0, ...code])
    const body = new DecodedBody()
    decodeBody(CONTEXT, { bytes, offset: 0 }, 1, body)
    expect(body.length).toBe(2 * depth + 1)
    expect(body.opcodes.at(depth - 1)).toBe(OP.block)
  })

  it('refuses more locals than engines do', () => {
    const body = new DecodedBody()
    const bytes = Uint8Array.of(1, 0xff, 0xff, 0xff, 0xff, 0x0f, I32, 0x0b)
    expect(() => decodeBody(CONTEXT, { bytes, offset: 0 }, 1, body)).toThrow(/locals/)
  })
})
