import { describe, expect, it } from 'vitest'
import type { Turn } from '../../machine/turn.ts'
import { codeOf, FOREVER, openModule, text, type Wanted } from './module.testkit.ts'
import type { ModuleCode } from './module-code.ts'
import type { ModuleResult } from './module-end.ts'

const WASI = 'wasi_snapshot_preview1'

/**
 * A reactor: `note` keeps the texts of its list one behind the other, draws randomness and looks at the time, `say` writes
 * its text, what was noted, four random bytes of start-up and of now, and counts its calls in a global.
 */
const REACTOR = `(module
  (import "${WASI}" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "${WASI}" "random_get" (func $random (param i32 i32) (result i32)))
  (import "${WASI}" "clock_time_get" (func $time (param i32 i64 i32) (result i32)))
  (import "canonical_abi" "resource_new_thing" (func $new (param i32) (result i32)))
  (import "elsewhere" "missing" (func $missing (param f64 i64) (result f32)))
  (memory (export "memory") 2)
  (global $free (mut i32) (i32.const 4096))
  (global $noted (mut i32) (i32.const 1024))
  (global $calls (mut i32) (i32.const 48))
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    (global.get $free)
    (global.set $free (i32.and (i32.add (i32.add (global.get $free) (local.get 3)) (i32.const 7)) (i32.const -8))))
  (func (export "_initialize") (memory.grow (i32.const 1)) drop (i32.store8 (i32.const 131072) (i32.const 33)))
  (func (export "note") (param $list i32) (param $count i32) (local $bytes i32)
    (loop $next
      (if (local.get $count) (then
        (local.set $bytes (i32.load offset=4 (local.get $list)))
        (memory.copy (global.get $noted) (i32.load (local.get $list)) (local.get $bytes))
        (global.set $noted (i32.add (global.get $noted) (local.get $bytes)))
        (local.set $list (i32.add (local.get $list) (i32.const 8)))
        (local.set $count (i32.sub (local.get $count) (i32.const 1)))
        (br $next))))
    (drop (call $random (i32.const 512) (i32.const 4)))
    (drop (call $time (i32.const 0) (i64.const 0) (i32.const 528))))
  (func $put (param $at i32) (param $bytes i32)
    (i32.store (i32.const 0) (local.get $at))
    (i32.store (i32.const 4) (local.get $bytes))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))))
  (func (export "say") (param $at i32) (param $bytes i32)
    (call $put (local.get $at) (local.get $bytes))
    (call $put (i32.const 1024) (i32.sub (global.get $noted) (i32.const 1024)))
    (drop (call $random (i32.const 516) (i32.const 4)))
    (drop (call $time (i32.const 0) (i64.const 0) (i32.const 536)))
    (global.set $calls (call $new (i32.add (global.get $calls) (i32.const 1))))
    (i32.store8 (i32.const 131073) (global.get $calls))
    (call $put (i32.const 131072) (i32.const 2))
    (call $put (i32.const 512) (i32.const 8))
    (call $put (i32.const 528) (i32.const 16)))
  (func (export "shout") (param i32 i32) (call $put (local.get 0) (local.get 1)))
  (func (export "ask") (drop (call $missing (f64.const 0) (i64.const 0))))
  (func (export "broken") (param i32 i32) unreachable))`

const code = (): ModuleCode => codeOf(REACTOR, false)

function run(
  of: ModuleCode,
  program: Wanted['program'],
  limits: Wanted['limits'] = {},
): Turn & { digest: string } {
  const { machine, start } = openModule(of, {
    program: { missing: 'trap', ...program },
    limits: { ...limits },
  })
  const turn = machine.start(start, FOREVER)
  return { ...turn, digest: machine.stateDigest() }
}

const said = (turn: Turn): string => text((turn as { value: ModuleResult }).value.stdout)
const raw = (turn: Turn): Uint8Array => (turn as { value: ModuleResult }).value.stdout

const STARTED = { startUp: [{ name: 'note', args: [['one ', 'Zwölf ', '']] }] }
const SAY = { entry: [{ name: 'say', args: ['hello '] }] }

describe('calls of exports', () => {
  it('take texts and lists of texts', () => {
    const entry = [
      { name: 'note', args: [['one ', 'Zwölf ', '']] },
      { name: 'say', args: ['hello '] },
    ]
    expect(said(run(code(), { entry }))).toMatch(/^hello one Zwölf !1/)
  })

  it.each([
    [[{ name: 'nowhere', args: [] }], /no function "nowhere"\. .*It exports: /],
    [[{ name: 'say', args: [] }], /"say" of the module takes \(i32, i32\), and is called with 0 arguments/],
    [
      [{ name: 'say', args: ['a', 'b'] }],
      /"say" of the module takes \(i32, i32\), and is called with 2 arguments/,
    ],
    [[], /nothing would be run/],
  ])('are refused where they cannot be made: %j', (entry, message) => {
    expect(() => run(code(), { entry })).toThrow(message)
  })

  it('are made in a turn, and end as others do', () => {
    expect(run(code(), { entry: [{ name: 'broken', args: ['x'] }] })).toMatchObject({
      status: 'failed',
      error: { code: 'trapped' },
    })
  })

  it.each([
    ['outside of the memory', '(i32.const -8)', { status: 'failed', error: { code: 'corrupted' } }],
    ['never', '(loop $l (br $l)) (i32.const 0)', { status: 'exhausted', limit: 'fuel' }],
    ['by a trap', 'unreachable', { status: 'failed', error: { code: 'trapped' } }],
  ])('write nothing where an allocator gives room %s', (_, body, ended) => {
    const hostile = `(module (memory (export "memory") 1)
      (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) ${body})
      (func (export "say") (param i32 i32)))`
    const turn = run(
      codeOf(hostile, false),
      { entry: [{ name: 'say', args: ['x'.repeat(100)] }] },
      { fuel: 1e6 },
    )
    expect(turn).toMatchObject(ended)
  })
})

describe('imports that nobody grants', () => {
  it('are refused, unless the embedder says that they end the guest that calls them', () => {
    const { machine, start } = openModule(code(), { program: SAY })
    expect(() => machine.start(start, FOREVER)).toThrow(/elsewhere\.missing.*missing: 'trap'/)
    expect(run(code(), { entry: 'ask' })).toMatchObject({
      status: 'failed',
      error: { code: 'not_granted', message: 'The module called elsewhere.missing, and nobody granted it.' },
    })
  })

  it('are refused always where they are no functions', () => {
    const table = '(module (import "a" "t" (table 1 funcref)) (func (export "_start")))'
    expect(() => run(codeOf(table, false), {})).toThrow(/a\.t/)
  })
})

describe('a start-up', () => {
  it('is done once, and no run can tell (invariant 2)', () => {
    const of = code()
    const first = run(of, { ...STARTED, ...SAY })
    expect(said(first)).toMatch(/^hello one Zwölf !1/)
    const later = run(of, { ...STARTED, ...SAY })
    expect(later.digest).toBe(first.digest)
    expect(later.usage).toEqual(first.usage)
    expect(raw(later)).toEqual(raw(first))
    expect(run(code(), { ...STARTED, ...SAY }).digest).toBe(first.digest)
    expect(said(run(of, { ...STARTED, entry: [{ name: 'shout', args: ['other'] }] }))).toBe('other')
  })

  it('begins at an image: what came before is not computed again', () => {
    const endless = `(module
      (import "${WASI}" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
      (memory (export "memory") 1)
      (func (export "spin") (local $i i32)
        (loop $l (local.set $i (i32.add (local.get $i) (i32.const 1)))
          (br_if $l (i32.lt_u (local.get $i) (i32.const 20000000)))))
      (func (export "quick") (drop (call $write (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 8)))))`
    const of = codeOf(endless, false)
    const program = { startUp: [{ name: 'spin', args: [] }], entry: 'quick' }
    let looks = 0
    const looksOf = (): number => {
      looks = 0
      const monotonic = (): number => (looks += 1)
      const { machine, start } = openModule(of, { program, monotonic })
      expect(machine.start(start, FOREVER).status).toBe('completed')
      return looks
    }
    // The clock is looked at as often as fuel is spent.
    expect(looksOf()).toBeGreaterThan(10)
    expect(looksOf()).toBeLessThan(5)
  })

  it('has randomness and time of its own, and the run has those of the run', () => {
    const plain = raw(run(code(), { entry: [...STARTED.startUp, ...SAY.entry] })).slice(-24)
    const started = raw(run(code(), { ...STARTED, ...SAY })).slice(-24)
    const times = (of: Uint8Array): bigint[] => {
      const view = new DataView(of.slice(8).buffer)
      return [view.getBigUint64(0, true), view.getBigUint64(8, true)]
    }
    expect(times(started)[0]).toBe(0n)
    expect(times(started)[1]).toBe(times(plain)[0])
    expect(started.subarray(4, 8)).toEqual(plain.subarray(0, 4))
    expect(started.subarray(0, 4)).not.toEqual(plain.subarray(0, 4))
  })

  it('that asks for more than all runs have goes on as a part of its run, and is done each time (invariant 1)', () => {
    const of = code()
    const program = { startUp: [{ name: 'shout', args: ['early '] }, ...STARTED.startUp], ...SAY }
    const first = run(of, program)
    const again = run(of, program)
    expect(said(again)).toMatch(/^early hello one Zwölf/)
    expect([again.digest, again.usage.fuel]).toEqual([first.digest, first.usage.fuel])
  })

  it('ends at a limit that it does not fit into, whether or not there is an image', () => {
    const of = code()
    const full = run(of, { ...STARTED, ...SAY })
    const tight = { fuel: 100 }
    expect(run(of, { ...STARTED, ...SAY }, tight)).toMatchObject({ status: 'exhausted', limit: 'fuel' })
    expect(run(code(), { ...STARTED, ...SAY }, tight)).toMatchObject({ status: 'exhausted', limit: 'fuel' })
    expect(run(of, { ...STARTED, ...SAY }, { fuel: full.usage.fuel })).toMatchObject({ status: 'completed' })
  })

  it('that leaves what cannot be seen, or was refused memory, is told by no run either (invariant 2)', () => {
    const hidden = `(module
      (import "${WASI}" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
      (memory (export "memory") 1)
      (global $single (mut f32) (f32.const 0))
      (global $double (mut f64) (f64.const 0))
      (func (export "leave")
        (global.set $single (f32.reinterpret_i32 (i32.const 0x7fa12345)))
        (global.set $double (f64.reinterpret_i64 (i64.const 0x7ff4123456789abc))))
      (func (export "grow") (drop (memory.grow (i32.const 60000))))
      (func (export "show")
        (i32.store (i32.const 16) (i32.reinterpret_f32 (global.get $single)))
        (i64.store (i32.const 24) (i64.reinterpret_f64 (global.get $double)))
        (i32.store (i32.const 0) (i32.const 16))
        (i32.store (i32.const 4) (i32.const 16))
        (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))))
      (func (export "trap") unreachable))`
    const of = codeOf(hidden, false)
    const left = { startUp: [{ name: 'leave', args: [] }], entry: 'show' }
    const first = raw(run(of, left))
    const view = new DataView(first.slice().buffer)
    expect([view.getUint32(0, true), view.getBigUint64(8, true)]).toEqual([
      0x7f_a1_23_45,
      0x7f_f4_12_34_56_78_9a_bcn,
    ])
    expect(raw(run(of, left))).toEqual(first)
    const refused = { startUp: [{ name: 'grow', args: [] }], entry: 'trap' }
    const { status, error, usage } = run(of, refused) as { status: string; error?: unknown; usage: unknown }
    expect(status).toBe('failed')
    expect(run(of, refused)).toMatchObject({ status, error, usage })
  })

  it('is that of its own variables, directories and domain', () => {
    const of = code()
    run(of, { ...STARTED, ...SAY })
    const other = { ...STARTED, ...SAY, startUp: [{ name: 'note', args: [['two ']] }] }
    expect(said(run(of, other))).toMatch(/^hello two !1/)
    const images = of.images('test')
    const there = ['a', 'b', 'c', 'd', 'e', 'f'].map((key) => images.get(key))
    expect(there.every((image) => image === undefined)).toBe(true)
    for (const key of ['a', 'b', 'c', 'd', 'e']) images.set(key, null)
    expect([images.get('a'), images.get('e')]).toEqual([undefined, null])
    expect(of.images('another').get('e')).toBeUndefined()
  })
})
