import { describe, expect, it } from 'vitest'
import { loadBinaryenAsyncify } from '../../../host-bindings/asyncify/binaryen-asyncify.ts'
import { PageTree } from '../../snapshot/page-tree.ts'
import { assemble } from '../../wasm/assemble.testkit.ts'
import { captureCore, restoreCore } from './capture-core.ts'
import { CoreGuest, type CoreInstance, type HostFunction } from './core-guest.ts'
import { type PrepareCoreOptions, prepareCore } from './prepare-core.ts'

const FOREVER = { deadline: Number.POSITIVE_INFINITY }
const asyncify = await loadBinaryenAsyncify()

interface Opened {
  readonly guest: CoreGuest
  readonly instance: CoreInstance
}

function open(
  text: string,
  functions: Readonly<Record<string, HostFunction>> = {},
  more: Partial<PrepareCoreOptions> & { readonly fuel?: number } = {},
): Opened {
  const { fuel = 100_000_000, ...options } = more
  const { wasm, manifest } = prepareCore(assemble(text), { profile: 'v8', maxMemoryPages: 4, ...options })
  const guest = new CoreGuest({ fuel, stackBytes: 300_000, monotonic: () => 0 })
  const env: Record<string, WebAssembly.ImportValue> = {}
  for (const { module, name, signature } of manifest.imports) {
    const results = signature?.results ?? []
    const isSuspending = manifest.suspends.some((item) => item.module === module && item.name === name)
    env[name] = isSuspending
      ? guest.suspendingFunction(() => instance, results, { module, name })
      : guest.hostFunction(results, functions[name] ?? (() => undefined))
  }
  const instance = guest.instantiate(
    { module: new WebAssembly.Module(wasm as BufferSource), manifest },
    { env },
  )
  return { guest, instance }
}

describe('ends of a turn', () => {
  const MODULE = `(module
    (import "env" "host" (func $host (param i32) (result i32)))
    (memory (export "memory") 1)
    (table 1 funcref)
    (func (export "add") (param i32 i64) (result i64) (i64.add (i64.extend_i32_s (local.get 0)) (local.get 1)))
    (func (export "host") (param i32) (result i32) (call $host (local.get 0)))
    (func (export "host twice") (result i32) (drop (call $host (i32.const 1))) (loop $l (drop (call $host (i32.const 2))) (br $l)) (i32.const 0))
    (func (export "forever") (loop $l (br $l)))
    (func $deep (export "deep") (param i32) (result i32) (i32.add (i32.const 1) (call $deep (local.get 0))))
    (func (export "unreachable") (unreachable))
    (func (export "store") (i32.store (i32.const 65536) (i32.const 1)))
    (func (export "divide") (result i32) (i32.div_s (i32.const 1) (i32.const 0)))
    (func (export "indirect") (call_indirect (i32.const 0)))
    (func (export "table") (call_indirect (i32.const 5)))
    (func (export "truncate") (result i32) (i32.trunc_f64_s (f64.const 1e30)))
    (func (export "flood") (loop $l (br_if $l (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))) (unreachable)))`
  const end = (
    name: string,
    args: readonly unknown[] = [],
    host: HostFunction = () => 1,
    fuel = 1_000_000,
  ) => {
    const { guest, instance } = open(MODULE, { host }, { fuel })
    return { guest, instance, end: guest.run(instance, name, args, FOREVER) }
  }

  it('returns values', () => {
    expect(end('add', [2, 40n]).end).toEqual({ status: 'returned', values: [42n] })
    expect(end('host', [2], (x) => Number(x) * 2).end).toEqual({ status: 'returned', values: [4] })
  })

  it.each([
    ['unreachable', 'unreachable'],
    ['store', 'memory out of bounds'],
    ['divide', 'integer division'],
    ['indirect', 'indirect call'],
    ['table', 'table out of bounds'],
    ['truncate', 'integer overflow'],
  ])('tells the trap of %s', (name, trap) => {
    const { guest, instance, end: ended } = end(name)
    expect(ended).toMatchObject({ status: 'trapped', trap, memoryRefused: false })
    expect(() => guest.run(instance, 'add', [1, 1n], FOREVER)).toThrow(/has ended/)
  })

  it('ends at limits', () => {
    expect(end('forever').end).toEqual({ status: 'exhausted', limit: 'fuel' })
    expect(end('deep', [1]).end).toEqual({ status: 'exhausted', limit: 'stack' })
    expect(end('flood', [], undefined, 1e9).end).toMatchObject({ status: 'trapped', memoryRefused: true })
    const { guest, instance } = open(MODULE)
    expect(guest.run(instance, 'forever', [], { deadline: -1 })).toEqual({
      status: 'exhausted',
      limit: 'wall',
    })
  })

  it('lets no exception of a host function through wasm, and runs none after it (invariant 1)', () => {
    const failure = new Error('secret')
    let calls = 0
    const { end: ended } = end('host twice', [], () => {
      calls += 1
      throw failure
    })
    expect(ended).toEqual({ status: 'faulted', error: failure })
    expect(calls).toBe(1)
    expect(end('host', [1], () => 'no number').end).toMatchObject({ status: 'faulted' })
    const evil = {
      valueOf: () => {
        throw failure
      },
    }
    expect(end('host', [1], () => evil).end).toMatchObject({
      status: 'faulted',
      error: { code: 'invalid_result' },
    })
  })

  it('calls host functions that return whatever happens, and do nothing once it has to stop (invariant 1)', () => {
    const { guest } = open(MODULE)
    let calls = 0
    const failing = guest.hostFunction(['i32'], () => {
      calls += 1
      throw new Error('secret')
    })
    expect([failing(1), failing(2)]).toEqual([0, 0])
    expect(calls).toBe(1)
  })

  it('ends when the guest exits', () => {
    let calls = 0
    const { guest, instance } = open(MODULE, {
      host: () => {
        calls += 1
        guest.exit(7)
        return 0
      },
    })
    expect(guest.run(instance, 'host twice', [], FOREVER)).toEqual({ status: 'exited', code: 7 })
    expect(calls).toBe(1)
  })

  it('runs a start function under limits only (invariant 5)', () => {
    const { guest, instance } = open('(module (func $s (loop $l (br $l))) (start $s))', {}, { fuel: 1_000 })
    expect(guest.fuelUsed).toBe(0)
    expect(guest.start(instance, FOREVER)).toEqual({ status: 'exhausted', limit: 'fuel' })
  })
})

/** Asks at every step of a loop, three calls deep, with a local that lives across the call. */
const ASKING = `(module
  (import "env" "ask" (func $ask (param i32) (result i64)))
  (memory (export "memory") 1)
  (global $count (mut i32) (i32.const 0))
  (func $leaf (param $x i32) (result i64) (local $kept i32)
    (local.set $kept (i32.mul (local.get $x) (i32.const 1000)))
    (global.set $count (i32.add (global.get $count) (i32.const 1)))
    (i64.add (call $ask (local.get $x)) (i64.extend_i32_s (local.get $kept))))
  (func $middle (param $x i32) (result i64)
    (i32.store (i32.const 65532) (i32.add (i32.load (i32.const 65532)) (local.get $x)))
    (call $leaf (local.get $x)))
  (func (export "run") (param $n i32) (result i64) (local $sum i64)
    (loop $l
      (local.set $sum (i64.add (local.get $sum) (call $middle (local.get $n))))
      (br_if $l (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (i64.add (local.get $sum) (i64.extend_i32_s (i32.load (i32.const 65532)))))
  (func $deep (export "deep") (param $n i32) (result i64) (local $l0 i64) (local $l1 i64) (local $l2 i64) (local $l3 i64) (local $l4 i64) (local $l5 i64) (local $l6 i64) (local $l7 i64) (local $l8 i64) (local $l9 i64)
    (local.set $l0 (i64.extend_i32_u (local.get $n)))
    (local.set $l1 (i64.extend_i32_u (local.get $n)))
    (local.set $l2 (i64.extend_i32_u (local.get $n)))
    (local.set $l3 (i64.extend_i32_u (local.get $n)))
    (local.set $l4 (i64.extend_i32_u (local.get $n)))
    (local.set $l5 (i64.extend_i32_u (local.get $n)))
    (local.set $l6 (i64.extend_i32_u (local.get $n)))
    (local.set $l7 (i64.extend_i32_u (local.get $n)))
    (local.set $l8 (i64.extend_i32_u (local.get $n)))
    (local.set $l9 (i64.extend_i32_u (local.get $n)))
    (if (result i64) (local.get $n)
      (then (i64.add (call $deep (i32.sub (local.get $n) (i32.const 1))) (i64.add (i64.add (i64.add (i64.add (i64.add (i64.add (i64.add (i64.add (i64.add (local.get $l0) (local.get $l1)) (local.get $l2)) (local.get $l3)) (local.get $l4)) (local.get $l5)) (local.get $l6)) (local.get $l7)) (local.get $l8)) (local.get $l9))))
      (else (call $ask (i32.const 0))))))`
const SUSPENDS = { suspends: [{ module: 'env', name: 'ask' }], asyncify }

describe('suspension', () => {
  it('suspends in mid-call and resumes with the answer, in the memory of a guest that never was (invariant 4)', () => {
    const { guest, instance } = open(ASKING, {}, SUSPENDS)
    const plain = open(ASKING, { ask: (x) => BigInt(Number(x)) })
    const direct = plain.guest.run(plain.instance, 'run', [3], FOREVER)
    let end = guest.run(instance, 'run', [3], FOREVER)
    const asked: unknown[] = []
    while (end.status === 'suspended') {
      expect(end.at).toEqual({ module: 'env', name: 'ask' })
      asked.push(...end.args)
      expect(() => guest.run(instance, 'run', [1], FOREVER)).toThrow(/is suspended/)
      end = guest.resume(BigInt(Number(end.args[0])), FOREVER)
    }
    expect(asked).toEqual([3, 2, 1])
    expect(end).toEqual(direct)
    expect(end).toEqual({ status: 'returned', values: [6_012n] })
    const bytes = (of: CoreInstance): Uint8Array =>
      new Uint8Array((of.exports.memory as WebAssembly.Memory).buffer)
    expect(Buffer.compare(bytes(instance), bytes(plain.instance))).toBe(0)
  })

  it('goes on in another instance from plain data', () => {
    const first = open(ASKING, {}, SUSPENDS)
    let end = first.guest.run(first.instance, 'run', [3], FOREVER)
    end = first.guest.resume(10n, FOREVER)
    const capture = structuredClone(captureCore(first.guest, PageTree.empty))
    expect(capture.changes).toHaveLength(1)
    const second = open(ASKING, {}, SUSPENDS)
    restoreCore(second.guest, capture, PageTree.empty)
    expect(second.guest.fuelUsed).toBe(first.guest.fuelUsed)
    for (const { guest } of [first, second]) {
      end = guest.resume(20n, FOREVER)
      expect(end).toMatchObject({ status: 'suspended', args: [1] })
      expect(guest.resume(30n, FOREVER)).toEqual({ status: 'returned', values: [6_066n] })
    }
    expect(second.guest.fuelUsed).toBe(first.guest.fuelUsed)
    expect(captureCore(second.guest, PageTree.empty)).toEqual(captureCore(first.guest, PageTree.empty))
  })

  it('ends with a stack that is too deep to be kept', () => {
    const { guest, instance } = open(ASKING, {}, SUSPENDS)
    const shallow = open(ASKING, {}, SUSPENDS)
    expect(shallow.guest.run(shallow.instance, 'deep', [300], FOREVER).status).toBe('suspended')
    // What recursion may use is not reached: the area that is borrowed is as small as the memory.
    const plain = open(ASKING, { ask: () => 0n })
    expect(plain.guest.run(plain.instance, 'deep', [900], FOREVER).status).toBe('returned')
    expect(guest.run(instance, 'deep', [900], FOREVER)).toEqual({ status: 'exhausted', limit: 'stack' })
  })

  it('ends with an answer of the wrong type', () => {
    const { guest, instance } = open(ASKING, {}, SUSPENDS)
    guest.run(instance, 'run', [3], FOREVER)
    expect(guest.resume(10, FOREVER)).toMatchObject({ status: 'faulted', error: { code: 'invalid_result' } })
  })

  it('refuses what contradicts itself (capture invariant 3)', () => {
    const { guest, instance } = open(ASKING, {}, SUSPENDS)
    guest.run(instance, 'run', [3], FOREVER)
    const capture = captureCore(guest, PageTree.empty)
    const { state } = capture
    const page = new Uint8Array(4_096)
    const wrong = [
      { ...capture, memoryBytes: 65_537 },
      { ...capture, memoryBytes: 5 * 65_536 },
      { ...capture, memoryBytes: 0 },
      { ...capture, changes: [[16, page] as const] },
      { ...capture, changes: [[0, page.slice(1)] as const] },
      { ...capture, state: null },
      { ...capture, state: { ...state, globals: [] } },
      { ...capture, state: { ...state, globals: [[0.5, 0, 0]] } },
      { ...capture, state: { ...state, fuelUsed: -1 } },
      { ...capture, state: { ...state, suspended: { ...state.suspended, entry: 'toString' } } },
      {
        ...capture,
        state: { ...state, suspended: { ...state.suspended, at: { module: 'env', name: 'other' } } },
      },
    ]
    for (const from of wrong) {
      const fresh = open(ASKING, {}, SUSPENDS)
      expect(() => restoreCore(fresh.guest, from, PageTree.empty)).toThrow(/cannot be restored/)
    }
  })

  it('refuses to capture state that nobody can see, by name', () => {
    const { guest } = open(
      '(module (table $t 1 funcref) (func (table.set $t (i32.const 0) (ref.null func))))',
    )
    expect(() => captureCore(guest, PageTree.empty)).toThrow(/because it writes to its tables/)
    const other = open('(module (global (mut funcref) (ref.null func)))')
    expect(() => captureCore(other.guest, PageTree.empty)).toThrow(/keeps a reference in global 0/)
  })
})
