/** The start of a command that takes its program from standard input, done once. */
import { afterAll, describe, expect, it } from 'vitest'
import { openRuntime, type Runtime } from '../../src/entry/node.ts'
import { assemble } from '../../src/wasm/assemble.testkit.ts'

const runtime: Runtime = await openRuntime()
afterAll(() => runtime.close())

/** Prepares long, reads standard input deep in its stack (through a table, too), and says what it has left of both. */
const INTERPRETER = assemble(`(module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (type $reader (func (param i32) (result i32)))
  (memory (export "memory") 1)
  (table 1 funcref)
  (elem (i32.const 0) $fill)
  (global $sum (mut i64) (i64.const 0))
  (func $untouched (param i32) (result i32) (i32.add (local.get 0) (i32.const 1)))
  (func $fill (type $reader) (local $kept i32)
    (local.set $kept (i32.mul (local.get 0) (i32.const 3)))
    (i32.store (i32.const 0) (i32.const 64))
    (i32.store (i32.const 4) (i32.const 32))
    (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
    (local.get $kept))
  (func $ready (param $rounds i32) (result i32) (local $left i32)
    (loop $l
      (global.set $sum (i64.add (global.get $sum) (i64.extend_i32_u (call $untouched (local.get $rounds)))))
      (local.set $rounds (i32.sub (local.get $rounds) (i32.const 1)))
      (br_if $l (local.get $rounds)))
    (drop (call $random (i32.const 40) (i32.const 4)))
    (local.set $left (i32.const 14))
    (i32.add (local.get $left) (call_indirect (type $reader) (i32.const 9) (i32.const 0))))
  (func (export "_start")
    (i32.store (i32.const 32) (call $ready (i32.const 3000000)))
    (drop (call $random (i32.const 44) (i32.const 4)))
    (i32.store (i32.const 48) (i32.wrap_i64 (global.get $sum)))
    (i32.store (i32.const 0) (i32.const 32))
    (i32.store (i32.const 4) (i32.const 64))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))`)

const limits = { fuel: 1e10 }

async function run(module: Parameters<Runtime['runModule']>[0], stdin: string, seed: number) {
  const outcome = await runtime.runModule(module, { limits, stdin, seed, startUp: [], stateDigest: true })
  if (outcome.status !== 'completed') throw new Error(JSON.stringify(outcome))
  const { stdout } = outcome.value as { stdout: Uint8Array }
  const words = new DataView(stdout.buffer, stdout.byteOffset)
  return {
    sum: words.getInt32(0, true),
    early: words.getUint32(8, true),
    late: words.getUint32(12, true),
    read: new TextDecoder().decode(stdout.subarray(32, 32 + stdin.length)),
    fuel: outcome.usage.fuel,
    wallMs: outcome.usage.wallMs,
    digest: outcome.stateDigest,
  }
}

// Each is made suspendable anew, in a Worker that loads what does it.
describe('a command whose start is kept', { timeout: 120_000 }, () => {
  it('goes on where it reads standard input, and no run can tell that it began there', async () => {
    const module = await runtime.prepareModule(INTERPRETER, { limits, startImage: {} })
    const first = await run(module, 'one', 1)
    expect(first).toMatchObject({ sum: 41, read: 'one' })
    const again = await run(module, 'one', 1)
    expect({ ...again, wallMs: 0 }).toEqual({ ...first, wallMs: 0 })
    const other = await run(module, 'other', 2)
    expect(other).toMatchObject({ sum: 41, read: 'other', early: first.early })
    expect(other.late).not.toBe(first.late)

    const elsewhere = await openRuntime()
    const fresh = await elsewhere.runModule(module, {
      limits,
      stdin: 'other',
      seed: 2,
      startUp: [],
      stateDigest: true,
    })
    expect([fresh.usage.fuel, fresh.stateDigest]).toEqual([other.fuel, other.digest])
    await elsewhere.close()
  })

  it('is suspended in the functions that were at work, and in no others', async () => {
    const plain = await runtime.prepareModule(INTERPRETER, { limits, suspendable: false })
    const kept = await runtime.prepareModule(INTERPRETER, { limits, startImage: {} })
    const whole = await runtime.prepareModule(INTERPRETER, { limits, suspendable: true })
    expect(kept.manifest.suspends).toEqual([{ module: 'wasi_snapshot_preview1', name: 'fd_read' }])
    expect(plain.manifest.suspends).toEqual([])
    expect(new Set([plain.engine, kept.engine, whole.engine]).size).toBe(2)
    // Without being asked for its start it is a command as any other.
    const outcome = await runtime.runModule(kept, { limits, stdin: 'x' })
    expect(outcome.status).toBe('completed')
  })

  it('is not left on another way than the one that was seen, and not out of a stack that cannot be told', async () => {
    const source = (body: string): Uint8Array =>
      assemble(`(module
        (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "args_sizes_get" (func $args (param i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
        (memory (export "memory") 1)
        (func $in (drop (call $read (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 8))))
        (func $one (result i32) (call $in) (i32.const 1))
        (func $two (result i32) (call $in) (i32.const 2))
        (func $deep (param $left i32) (result i32)
          (if (result i32) (local.get $left)
            (then (i32.add (i32.const 1) (call $deep (i32.sub (local.get $left) (i32.const 1)))))
            (else (call $one))))
        ${body})`)
    const branches = source(`(func (export "_start")
      (drop (call $args (i32.const 16) (i32.const 20)))
      (call $exit (i32.add (i32.const 40) (if (result i32) (i32.eq (i32.load (i32.const 16)) (i32.const 1))
        (then (call $one)) (else (call $two))))))`)
    const module = await runtime.prepareModule(branches, { limits, startImage: {} })
    const codeWith = async (args: string[]): Promise<unknown> =>
      runtime
        .runModule(module, { limits, args, startUp: [] })
        .then((outcome) => outcome.status === 'completed' && (outcome.value as { exitCode: number }).exitCode)
    expect([await codeWith([]), await codeWith([]), await codeWith(['x']), await codeWith(['x'])]).toEqual([
      41, 41, 42, 42,
    ])
    const deep = source('(func (export "_start") (call $exit (call $deep (i32.const 1500))))')
    await expect(runtime.prepareModule(deep, { limits, startImage: {} })).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('too deep'),
    })
  })

  it('has to read standard input before it asks for anything else', async () => {
    const eager = assemble('(module (func (export "_start")))')
    await expect(runtime.prepareModule(eager, { startImage: {} })).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('never does'),
    })
    await expect(runtime.prepareModule(eager, { startImage: { arg: [] } as never })).rejects.toMatchObject({
      code: 'invalid_argument',
    })
  })
})
