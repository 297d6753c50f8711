import { describe, expect, it } from 'vitest'
import { CaissonError } from '../base/errors.ts'
import { assemble, exported, instantiate } from './assemble.testkit.ts'
import { encodeModule, parseModule } from './binary.ts'
import {
  addExport,
  addFunction,
  addFunctionImport,
  exportStart,
  filterCustomSections,
  globalI32,
  growTable,
  patchData,
  patchSegment,
  renameExports,
  setGlobalI32,
  setMemoryLimits,
} from './edit.ts'
import { OP } from './opcode-table.ts'
import { I32 } from './value-type.ts'

const SAMPLE = assemble(`(module
  (import "env" "memory" (memory 2 10))
  (import "env" "log" (func $log (param i32)))
  (table $t 3 3 funcref)
  (elem (i32.const 0) $one $two $log)
  (global $sp (mut i32) (i32.const 4096))
  (global $ref (mut funcref) (ref.func $two))
  (data (i32.const 16) "hello world")
  (func $one (result i32) (i32.const 1))
  (func $two (result i32) (i32.add (call $one) (i32.const 1)))
  (func (export "run") (param i32) (result i32)
    (call $log (global.get $sp))
    (call_indirect (result i32) (local.get 0)))
  (func (export "viaGlobal") (result i32)
    (table.set $t (i32.const 0) (global.get $ref))
    (call_indirect (result i32) (i32.const 0)))
  (func (export "read") (param i32) (result i32) (i32.load8_u (local.get 0)))
  (func $begin (call $log (i32.const -1)))
  (start $begin))`)

function run(wasm: Uint8Array, extra: WebAssembly.ModuleImports = {}) {
  const logged: number[] = []
  const memory = new WebAssembly.Memory({ initial: 2, maximum: 10 })
  const instance = instantiate(wasm, {
    env: { memory, log: (value: number) => logged.push(value), ...extra },
  })
  return { instance, logged }
}

describe('parse and encode', () => {
  it('give back the same bytes for a module in shortest encoding', () => {
    expect(encodeModule(parseModule(SAMPLE))).toEqual(SAMPLE)
  })
})

describe('edits', () => {
  const module = parseModule(SAMPLE)

  it('add a function import and move every reference to the functions behind it', () => {
    const type = { params: [I32], results: [I32] }
    const { module: edited, index } = addFunctionImport(module, 'env', 'extra', type)
    expect(index).toBe(1)
    const { instance, logged } = run(encodeModule(edited), { extra: (value: number) => value })
    expect(exported(instance, 'run')(1)).toBe(2)
    expect(exported(instance, 'viaGlobal')()).toBe(2)
    expect(logged).toEqual([-1, 4096])
  })

  it('append a function that calls others, and export it', () => {
    const code = [OP.call, 2, OP.i32Const, 40, OP.i32Add, OP.end]
    const added = addFunction(module, { type: { params: [], results: [I32] }, locals: [I32], code })
    const edited = addExport(added.module, { name: 'added', kind: 'function', index: added.index })
    expect(exported(run(encodeModule(edited)).instance, 'added')()).toBe(42)
  })

  it('rename exports and export a mutable global and the table', () => {
    let edited = renameExports(module, new Map([['run', 'execute']]))
    edited = addExport(edited, { name: 'sp', kind: 'global', index: 0 })
    edited = addExport(edited, { name: 'table', kind: 'table', index: 0 })
    const { exports } = run(encodeModule(edited)).instance
    expect(Object.keys(exports).sort()).toEqual(['execute', 'read', 'sp', 'table', 'viaGlobal'])
    const sp = exports.sp as WebAssembly.Global
    sp.value = 8
    expect(sp.value).toBe(8)
  })

  it('grow a fixed table by a slot', () => {
    const edited = addExport(growTable(module, 0, 1), { name: 'table', kind: 'table', index: 0 })
    const table = run(encodeModule(edited)).instance.exports.table as WebAssembly.Table
    expect(table.length).toBe(4)
    expect(() => table.grow(1)).toThrow(RangeError)
  })

  it('patch the initial value of a global', () => {
    expect(globalI32(module, 0)).toBe(4096)
    const { instance, logged } = run(encodeModule(setGlobalI32(module, 0, -5)))
    exported(instance, 'run')(0)
    expect(logged).toEqual([-1, -5])
    expect(() => setGlobalI32(module, 1, 0)).toThrow(CaissonError)
  })

  it('patch initialised memory by address and by segment', () => {
    const patched = patchData(module, 18, Uint8Array.of(65, 66))
    expect(exported(run(encodeModule(patched)).instance, 'read')(19)).toBe(66)
    const direct = patchSegment(module, 0, 0, Uint8Array.of(90))
    expect(exported(run(encodeModule(direct)).instance, 'read')(16)).toBe(90)
    expect(() => patchData(module, 25, Uint8Array.of(1, 2, 3))).toThrow(CaissonError)
  })

  it('change the limits of an imported memory', () => {
    const edited = encodeModule(setMemoryLimits(module, 0, 1, 2))
    const env = { memory: new WebAssembly.Memory({ initial: 2, maximum: 10 }), log: () => {} }
    expect(() => instantiate(edited, { env })).toThrow(WebAssembly.LinkError)
  })

  it('turn the start section into an export', () => {
    const { instance, logged } = run(encodeModule(exportStart(module, 'start')))
    expect(logged).toEqual([])
    exported(instance, 'start')()
    expect(logged).toEqual([-1])
  })

  it('drop custom sections', () => {
    const named = { ...module, customs: [{ name: 'x', bytes: Uint8Array.of(1), after: 0 }] }
    expect(parseModule(encodeModule(named)).customs).toHaveLength(1)
    const dropped = filterCustomSections(named, (section) => section.name !== 'x')
    expect(parseModule(encodeModule(dropped)).customs).toHaveLength(0)
  })

  it('refuse what does not exist or exists already', () => {
    expect(() => addExport(module, { name: 'run', kind: 'function', index: 0 })).toThrow(CaissonError)
    expect(() => addExport(module, { name: 'x', kind: 'table', index: 1 })).toThrow(CaissonError)
    expect(() => renameExports(module, new Map([['nope', 'x']]))).toThrow(CaissonError)
    expect(() => renameExports(module, new Map([['run', 'read']]))).toThrow(CaissonError)
    expect(() => growTable(module, 1, 1)).toThrow(CaissonError)
    expect(() => setMemoryLimits(module, 1, 1)).toThrow(CaissonError)
  })
})
