import { describe, expect, it } from 'vitest'
import { assemble } from './assemble.testkit.ts'
import { encodeModule } from './encode-module.ts'
import { CONSTANT_NAMESPACE, evaluateConstant, isLoweredConstant, lowerConstants } from './lower-constants.ts'
import { parseModule } from './parse-module.ts'

/** As position-independent libraries have them: all that they have is relative to where they are put. */
const LIBRARY = assemble(`(module
  (import "env" "memory_base" (global $memory i32)) (import "env" "table_base" (global $table i32))
  (import "env" "far" (global $far i64)) (import "env" "memory" (memory 1)) (import "env" "table" (table 8 funcref))
  (global $text i32 (i32.add (global.get $memory) (i32.const -4)))
  (global $area (mut i64) (i64.mul (i64.sub (global.get $far) (i64.const 3)) (i64.const -9223372036854775808)))
  (global $plain i32 (i32.const 5))
  (data (offset (i32.add (global.get $memory) (i32.const 16))) "there")
  (elem (offset (i32.add (global.get $table) (i32.const 1))) $one)
  (func $one (result i32) (i32.add (global.get $text) (global.get $plain)))
  (func (export "area") (result i64) (global.set $area (i64.add (global.get $area) (i64.const 1))) (global.get $area))
  (export "text" (global $text)))`)

const GLOBALS: Readonly<Record<string, unknown>> = { memory_base: 1024, table_base: 2, far: 8n }
const globalOf = (module: string, name: string): unknown => (module === 'env' ? GLOBALS[name] : undefined)

describe('lowerConstants', () => {
  it('gives every place that has arithmetic its value, and moves no other', () => {
    const { module, constants } = lowerConstants(parseModule(LIBRARY))
    const memory = new WebAssembly.Memory({ initial: 1 })
    const table = new WebAssembly.Table({ initial: 8, element: 'anyfunc' })
    const values = constants.map((constant) => [constant.name, evaluateConstant(constant, globalOf)])
    const wasm = encodeModule(module)
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(wasm as Uint8Array<ArrayBuffer>), {
      env: { ...GLOBALS, memory, table } as WebAssembly.ModuleImports,
      [CONSTANT_NAMESPACE]: Object.fromEntries(values) as WebAssembly.ModuleImports,
    })
    expect((exports.text as WebAssembly.Global).value).toBe(1020)
    expect(new TextDecoder().decode(new Uint8Array(memory.buffer, 1040, 5))).toBe('there')
    expect((table.get(3) as () => number)()).toBe(1025)
    // (8 - 3) * -2^63, cut at 64 bits.
    expect((exports.area as () => bigint)()).toBe(-(2n ** 63n) + 1n)
  })

  it('leaves a module without arithmetic as it is', () => {
    const plain = parseModule(assemble('(module (global (export "five") i32 (i32.const 5)))'))
    expect(lowerConstants(plain)).toEqual({ module: plain, constants: [] })
  })

  it('says what it says in plain JSON, and cuts at the width of the type', () => {
    const { constants } = lowerConstants(parseModule(LIBRARY))
    expect(JSON.parse(JSON.stringify(constants))).toEqual(constants)
    expect(constants.every(isLoweredConstant)).toBe(true)
    const sum = {
      name: 'constant.0',
      type: 'i32',
      steps: [{ push: 2 ** 31 - 1 }, { push: 1 }, { op: 'add' }],
    }
    expect(evaluateConstant(sum as never, globalOf)).toBe(-(2 ** 31))
  })

  it('finds a constant again whose numbers are written longer than they have to be', () => {
    const plain = parseModule(
      assemble('(module (import "env" "base" (global i32)) (global (export "sum") i32 (i32.const 5)))'),
    )
    // `global.get 0`, `i32.const 4`, `i32.add`, with an index in five bytes.
    const init = Uint8Array.of(0x23, 0x80, 0x80, 0x80, 0x80, 0, 0x41, 4, 0x6a, 0x0b)
    const { module, constants } = lowerConstants({
      ...plain,
      globals: plain.globals.map((global) => ({ ...global, init })),
    })
    const value = evaluateConstant(constants[0] as never, () => 8)
    const compiled = new WebAssembly.Module(encodeModule(module) as Uint8Array<ArrayBuffer>)
    const { exports } = new WebAssembly.Instance(compiled, {
      env: { base: 8 },
      [CONSTANT_NAMESPACE]: { 'constant.0': value as number },
    })
    expect((exports.sum as WebAssembly.Global).value).toBe(12)
  })

  it('refuses more of them than a library has', () => {
    const plain = parseModule(assemble('(module (global (export "five") i32 (i32.const 5)))'))
    const [global] = plain.globals
    const many = (count: number): ReturnType<typeof parseModule> => ({
      ...plain,
      globals: Array.from({ length: count }, (_, at) => ({
        ...(global as NonNullable<typeof global>),
        init: Uint8Array.of(
          0x41,
          at & 63,
          0x41,
          0x80 | (at & 127),
          0x80 | ((at >> 7) & 127),
          at >> 14,
          0x6a,
          0x0b,
        ),
      })),
    })
    expect(lowerConstants(many(20_000)).constants.length).toBeLessThanOrEqual(20_000)
    expect(() => lowerConstants(many(20_001))).toThrow(/more than 20000 different constants/)
  })

  it('refuses types that do not fit, globals that are none, and modules that take its names', () => {
    const mixed = bytesOf(0x41, 1, 0x42, 1, 0x6a, 0x0b)
    expect(() => lowerConstants(mixed)).toThrow(/types of a constant/)
    expect(() => lowerConstants(bytesOf(0x41, 1, 0x41, 1, 0x41, 1, 0x6a, 0x0b))).toThrow(/not one value/)
    const { constants } = lowerConstants(parseModule(LIBRARY))
    expect(() => evaluateConstant(constants[0] as never, () => undefined)).toThrow(/memory_base/)
    const own = assemble(`(module (import "${CONSTANT_NAMESPACE}" "constant.0" (global i32)))`)
    expect(() => lowerConstants(parseModule(own))).toThrow(/reserved/)
  })
})

/** A module whose only global has this expression: an assembler refuses what is not valid. */
function bytesOf(...expression: number[]): ReturnType<typeof parseModule> {
  const plain = parseModule(assemble('(module (global (export "five") i32 (i32.const 5)))'))
  return {
    ...plain,
    globals: plain.globals.map((global) => ({ ...global, init: Uint8Array.from(expression) })),
  }
}
