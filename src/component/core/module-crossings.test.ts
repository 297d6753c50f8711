import { describe, expect, it } from 'vitest'
import { loadBinaryenAsyncify } from '../../../host-bindings/asyncify/binaryen-asyncify.ts'
import { assemble } from '../../wasm/assemble.testkit.ts'
import { CoreGuest, type CoreInstance } from './core-guest.ts'
import { prepareCore } from './prepare-core.ts'

const FOREVER = { deadline: Number.POSITIVE_INFINITY }
const ASK = { module: 'env', name: 'ask' }
/** As modules that were prepared want it. */
const TABLE: WebAssembly.TableDescriptor = { element: 'anyfunc', initial: 1, maximum: 100_000 }
const asyncify = await loadBinaryenAsyncify()

/** Calls back into the other module, by a table that the host fills. */
const BETWEEN = `(module
  (import "env" "table" (table 1 funcref))
  (func $back (param i32) (result i32) (call_indirect (param i32) (result i32) (local.get 0) (i32.const 0)))
  (memory (export "memory") 1)
  (func (export "through") (param i32) (result i32)
    (i32.store (i32.const 0) (i32.const 1))
    (i32.add (call $back (local.get 0)) (i32.const 100)))
  (func (export "plain") (param i32) (result i32) (i32.mul (local.get 0) (i32.const 2))))`
const ASKING = `(module
  (import "env" "ask" (func $ask (param i32) (result i32)))
  (import "b" "through" (func $through (param i32) (result i32)))
  (import "b" "plain" (func $plain (param i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "back") (param i32) (result i32) (call $ask (local.get 0)))
  (func (export "chain") (param i32) (result i32) (call $through (local.get 0)))
  (func (export "beside") (param i32) (result i32)
    (i32.add (call $plain (local.get 0)) (call $ask (call $plain (i32.const 3))))))`

interface Opened {
  readonly guest: CoreGuest
  readonly asking: CoreInstance
}

function prepared(text: string, suspends: readonly (typeof ASK)[]): Parameters<CoreGuest['instantiate']>[0] {
  const { wasm, manifest } = prepareCore(assemble(text), {
    profile: 'v8',
    maxMemoryPages: 4,
    counters: 'shared',
    ...(suspends.length > 0 && { suspends, asyncify }),
  })
  return { module: new WebAssembly.Module(wasm as BufferSource), manifest }
}

/** The way back is wasm to wasm: nothing of the host's is called, so that no nesting is seen. */
function open(): Opened {
  const guest = new CoreGuest({ fuel: 1e6, stackBytes: 300_000, monotonic: () => 0, counters: 'shared' })
  const table = new WebAssembly.Table(TABLE)
  const between = guest.instantiate(prepared(BETWEEN, []), { env: { table } })
  const ask = guest.suspendingFunction(() => asking, ['i32'], ASK)
  const asking: CoreInstance = guest.instantiate(prepared(ASKING, [ASK]), {
    env: { ask },
    b: between.exports as WebAssembly.ModuleImports,
  })
  table.set(0, asking.exports.back)
  return { guest, asking }
}

describe('modules of one guest that call each other', () => {
  it('are not suspended with another one in between: A, B, A (invariant 1)', () => {
    const { guest, asking } = open()
    const end = guest.run(asking, 'chain', [5], FOREVER)
    expect(end).toMatchObject({ status: 'faulted', error: { code: 'unsupported' } })
    expect(() => guest.run(asking, 'chain', [5], FOREVER)).toThrow(/has ended/)
  })

  it('are suspended where the other one has returned', () => {
    const { guest, asking } = open()
    expect(guest.run(asking, 'beside', [5], FOREVER)).toMatchObject({ status: 'suspended', args: [6] })
    expect(guest.resume(7, FOREVER)).toEqual({ status: 'returned', values: [17] })
    expect(guest.run(asking, 'back', [5], FOREVER)).toMatchObject({ status: 'suspended', args: [5] })
  })

  it('share no table and no reference where one can be suspended (invariant 2)', () => {
    const { guest, asking } = open()
    const ask = guest.suspendingFunction(() => asking, ['i32'], ASK)
    const ASKS = '(import "env" "ask" (func $ask (param i32) (result i32)))'
    const linking =
      (
        text: string,
        suspends: readonly (typeof ASK)[],
        env: WebAssembly.ModuleImports,
      ): (() => CoreInstance) =>
      () =>
        guest.instantiate(prepared(text, suspends), { env: { ask, ...env } })
    const t = new WebAssembly.Table(TABLE)
    const sharesTable = `(module ${ASKS} (import "env" "t" (table 1 funcref)) (memory 1))`
    expect(linking(sharesTable, [ASK], { t })).toThrow(/shares "env.t" with another module/)
    const g = new WebAssembly.Global({ value: 'externref', mutable: true }, null)
    const sharesGlobal = `(module ${ASKS} (import "env" "g" (global (mut externref))) (memory 1))`
    expect(linking(sharesGlobal, [ASK], { g })).toThrow(/shares "env.g" with another module/)
    const carries = `(module ${ASKS} (import "env" "f" (func (param funcref))) (memory 1))`
    expect(linking(carries, [ASK], { f: () => {} })).toThrow(/shares "env.f" with another module/)
    const other = linking(`(module ${ASKS} (memory 1) (table (export "t") 1 funcref))`, [ASK], {})()
    const takes = '(module (import "env" "t" (table 1 funcref)))'
    const theirs = other.exports.t as WebAssembly.Table
    expect(linking(takes, [], { t: theirs })).toThrow(/shares "env.t" with another module/)
    expect(linking(takes, [], { t })).not.toThrow()
  })
})
