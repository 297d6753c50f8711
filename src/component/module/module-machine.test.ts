import { describe, expect, it } from 'vitest'
import type { GuestCapability } from '../../capability/call.ts'
import { Refusal } from '../../capability/call.ts'
import type { Turn } from '../../machine/turn.ts'
import {
  bytes,
  codeOf,
  FOREVER,
  NOW,
  openModule,
  runModule,
  sample,
  text,
  type Wanted,
} from './module.testkit.ts'
import type { ModuleResult } from './module-end.ts'

const COMMAND = codeOf(sample('command-c'))
const PLAIN = codeOf(sample('command-c'), false)

function command(args: readonly string[], wanted: Wanted = {}): Turn {
  const { program, ...rest } = wanted
  return runModule(COMMAND, { ...rest, program: { ...program, args: ['command', ...args] } })
}

function resultOf(turn: Turn): ModuleResult {
  if (turn.status !== 'completed') throw new Error(`${turn.status} ${JSON.stringify(turn)}`)
  return turn.value as ModuleResult
}

const printed = (turn: Turn): string => text(resultOf(turn).stdout)

describe('a command', () => {
  it('gets arguments, environment and standard input, and nothing else', () => {
    expect(printed(command(['args', 'one', 'two words']))).toBe('command\nargs\none\ntwo words\n')
    expect(printed(command(['env'], { program: { env: { B: '2', A: 'x=y' } } }))).toBe('B=2\nA=x=y\n')
    expect(printed(command(['env']))).toBe('')
    expect(printed(command(['upper'], { program: { stdin: bytes('shout\n') } }))).toBe('SHOUT\n')
  })

  it('sees the end of an empty standard input', () => {
    expect(resultOf(command(['upper']))).toMatchObject({ exitCode: 0, stdout: new Uint8Array(0) })
  })

  it('exits with a code, which is an outcome', () => {
    expect(resultOf(command(['exit', '7']))).toMatchObject({ exitCode: 7 })
    expect(resultOf(command(['nothing-known'])).exitCode).toBe(2)
  })

  it('reads granted files, and leaves what it made or changed', () => {
    const files = { 'in.txt': bytes('inside'), 'other.txt': bytes('left alone') }
    const directories = [{ guestPath: '/data', writable: true, files }]
    const turn = command(['copy', '/data/in.txt', '/data/out.txt'], { program: { directories } })
    expect(resultOf(turn).files).toEqual({ '/data/out.txt': bytes('inside') })
    const listed = command(['list', '/data'], { program: { directories } })
    expect(
      printed(listed)
        .split('\n')
        .filter((name) => !/^\.*$/.test(name))
        .sort(),
    ).toEqual(['in.txt', 'other.txt'])
  })

  it('is refused what was not granted, in its own words', () => {
    const directories = [{ guestPath: '/data', writable: false, files: { 'in.txt': bytes('inside') } }]
    const written = resultOf(command(['copy', '/data/in.txt', '/data/out.txt'], { program: { directories } }))
    expect(written).toMatchObject({ exitCode: 1, files: {} })
    expect(text(written.stderr)).toMatch(/out\.txt: /)
    expect(resultOf(command(['copy', '/etc/passwd', '/data/x'])).exitCode).toBe(1)
    expect(resultOf(command(['random'], { program: { random: false } })).exitCode).toBe(1)
  })

  it('closes standard output twice without harm', () => {
    const { exitCode, stderr } = resultOf(command(['close-twice']))
    expect(exitCode).toBe(0)
    expect(text(stderr)).toMatch(/Bad file descriptor/)
  })

  it('draws the same randomness from the same seed, and tells logical time', () => {
    expect(printed(command(['random']))).toMatch(/^[0-9a-f]{16}\n$/)
    expect(printed(command(['random']))).toBe(printed(command(['random'])))
    expect(printed(command(['time']))).toBe(`${NOW / 1_000}\n`)
  })

  it('runs its start section inside of the first turn (invariant 1)', () => {
    const code = codeOf(sample('start-wat'))
    const directories = [{ guestPath: '/out', writable: true, files: {} }]
    const { machine, start } = openModule(code, { program: { directories } })
    expect(machine.output.stdout).toEqual(new Uint8Array(0))
    const turn = machine.start(start, FOREVER)
    expect(resultOf(turn).files).toEqual({ '/out/early.txt': bytes('too early\n') })
  })
})

describe('limits', () => {
  it.each([
    ['loop', { fuel: 10_000_000 }, 'fuel'],
    ['recurse', {}, 'stack'],
  ] as const)('ends %s in C', (what, limits, limit) => {
    expect(command([what], { limits })).toMatchObject({ status: 'exhausted', limit })
  })

  it('is refused memory, which a program may take well or not', () => {
    // `malloc` gives NULL, and the sample says how much it had.
    expect(Number.parseInt(printed(command(['flood'])), 10)).toBeLessThan(64)
    const FLOOD = `(module (memory (export "memory") 1) (func (export "_start")
      (loop $l (br_if $l (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) unreachable))`
    expect(runModule(codeOf(FLOOD))).toMatchObject({ status: 'exhausted', limit: 'memory' })
  })

  it('ends at the deadline, and keeps what was written before (invariant 4)', () => {
    let now = 0
    const { machine, start } = openModule(COMMAND, {
      program: { args: ['command', 'loop'] },
      monotonic: () => (now += 1),
    })
    expect(machine.start(start, { deadline: 50 })).toMatchObject({ status: 'exhausted', limit: 'wall' })
    expect(() => machine.capture()).toThrow(/it is ended/)
    expect(machine.output.stderr).toEqual(new Uint8Array(0))
  })

  it('ends output that is more than may leave it', () => {
    const turn = command(['args', 'x'.repeat(2_000)], { limits: { bytesOut: 1_000 } })
    expect(turn).toMatchObject({ status: 'exhausted', limit: 'bytes' })
  })

  it('ends input that is more than may enter it', () => {
    const turn = command(['upper'], { program: { stdin: new Uint8Array(2_000) }, limits: { bytesIn: 1_000 } })
    expect(turn).toMatchObject({ status: 'exhausted', limit: 'bytes' })
    expect(turn.status === 'exhausted' && turn.message).toMatch(/bytesIn/)
  })

  it('is a failure where it traps', () => {
    expect(command(['abort'])).toMatchObject({ status: 'failed', error: { code: 'trapped' } })
  })

  it('lets imports be paid for', () => {
    const CALLS = `(module
      (import "wasi_snapshot_preview1" "sched_yield" (func $yield (result i32)))
      (memory (export "memory") 1)
      (func (export "_start") (loop $l (drop (call $yield)) (br $l))))`
    let calls = 0
    const { machine, start } = openModule(codeOf(CALLS), {
      monotonic: () => (calls += 1),
      limits: { fuel: 1_000_000 },
    })
    expect(machine.start(start, FOREVER)).toMatchObject({ status: 'exhausted', limit: 'fuel' })
    expect(calls).toBeLessThan(1_000)
  })
})

describe('a guest that sleeps', () => {
  it('waits, and goes on when its time has come (invariant 2)', () => {
    const { machine, start } = openModule(COMMAND, { program: { args: ['command', 'sleep', '1500'] } })
    const turn = machine.start(start, FOREVER)
    expect(turn.status).toBe('waiting')
    const wake = machine.wakeAtMs as number
    expect(wake).toBeGreaterThanOrEqual(NOW + 1_500)
    expect(wake).toBeLessThan(NOW + 1_501)
    expect(machine.settle([], NOW + 10, FOREVER)).toMatchObject({ status: 'waiting', wakeAtMs: wake })
    expect(printed(machine.settle([], wake, FOREVER))).toBe('1500\n')
  })

  it('moves its clock where it was not made suspendable, within idleMs', () => {
    const sleeping = { program: { args: ['command', 'sleep', '1500'] } }
    expect(printed(runModule(PLAIN, sleeping))).toBe('1500\n')
    expect(runModule(PLAIN, { ...sleeping, limits: { idleMs: 1_000 } })).toMatchObject({
      status: 'exhausted',
      limit: 'idle',
    })
  })
})

/** Asks `prices.lookup`, with the text at 0 and 1 KiB of room at 1024, and exits with what came of it. */
const ASKING = `(module
  (import "prices" "lookup" (func $lookup (param i32 i32 i32 i32) (result i32)))
  (import "caisson_calls" "answer" (func $answer (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (global $room (mut i32) (i32.const 1024))
  (data (i32.const 0) "{\\"sku\\":\\"a\\"}")
  (func $print (param $length i32)
    (i32.store (i32.const 512) (i32.const 1024))
    (i32.store (i32.const 516) (local.get $length))
    (drop (call $write (i32.const 1) (i32.const 512) (i32.const 1) (i32.const 520))))
  (func (export "_start") (local $n i32)
    (local.set $n (call $lookup (i32.const 0) (i32.const 11) (i32.const 1024) (global.get $room)))
    (if (i32.lt_s (local.get $n) (i32.const 0))
      (then (call $print (i32.sub (i32.const 0) (local.get $n))) (call $exit (i32.const 1))))
    (call $print (local.get $n)))
  (func (export "small")
    (local $n i32)
    (local.set $n (call $lookup (i32.const 0) (i32.const 11) (i32.const 1024) (i32.const 1)))
    (if (i32.ne (local.get $n) (call $answer (i32.const 1024) (i32.const 1024))) (then unreachable))
    (call $print (local.get $n)))
  (func (export "outside")
    (call $exit (call $lookup (i32.const 65530) (i32.const 11) (i32.const 65530) (i32.const 4096)))))`
const LOOKUP: GuestCapability = { name: 'prices.lookup', sync: false }
const SYNC: GuestCapability = { name: 'prices.lookup', sync: true }

describe('capabilities', () => {
  const asking = codeOf(ASKING)

  it('suspends for an answer, which is pending meanwhile', () => {
    const { machine, start } = openModule(asking, { capabilities: [LOOKUP] })
    const turn = machine.start(start, FOREVER)
    const call = { id: 1, capability: 'prices.lookup', args: { sku: 'a' } }
    expect(turn).toMatchObject({ status: 'waiting', calls: [call], usage: { calls: 1 } })
    expect(machine.pending).toMatchObject([call])
    expect(() => machine.settle([{ id: 2, ok: true, value: 1 }], NOW, FOREVER)).toThrow(/No call 2/)
    expect(printed(machine.settle([{ id: 1, ok: true, value: { price: 1.5 } }], NOW, FOREVER))).toBe(
      '{"price":1.5}',
    )
    expect(machine.pending).toEqual([])
  })

  it('tells failures as data', () => {
    const { machine, start } = openModule(asking, { capabilities: [LOOKUP] })
    machine.start(start, FOREVER)
    const error = { code: 'denied', message: 'No.' }
    const result = resultOf(machine.settle([{ id: 1, ok: false, error }], NOW, FOREVER))
    expect(result.exitCode).toBe(1)
    expect(JSON.parse(text(result.stdout))).toEqual(error)
  })

  it('answers sync ones inside of the turn', () => {
    const asked: unknown[] = []
    const sync = (index: number, args: unknown): unknown => {
      asked.push([index, args])
      return [1n]
    }
    const turn = runModule(asking, { capabilities: [SYNC], sync })
    expect(asked).toEqual([[0, { sku: 'a' }]])
    expect(printed(turn)).toBe('[{"$caisson":"bigint","value":"1"}]')
    const refused = runModule(asking, {
      capabilities: [SYNC],
      sync: () => new Refusal({ code: 'revoked', message: 'Gone.' }),
    })
    expect(resultOf(refused).exitCode).toBe(1)
  })

  it('keeps an answer that does not fit', () => {
    const sync = (): unknown => 'a long answer'
    expect(printed(runModule(asking, { capabilities: [SYNC], sync, program: { entry: 'small' } }))).toBe(
      '"a long answer"',
    )
  })

  it('reads and writes nothing outside of the memory', () => {
    const result = resultOf(runModule(asking, { capabilities: [SYNC], program: { entry: 'outside' } }))
    expect(result.exitCode | 0).toBeLessThan(0)
  })

  it('fails where it cannot wait (invariant 2)', () => {
    const result = resultOf(runModule(codeOf(ASKING, false), { capabilities: [LOOKUP] }))
    expect(result.exitCode).toBe(1)
    expect(text(result.stdout)).toMatch(/"unsupported"/)
  })

  it('are counted, and end at the limit', () => {
    const limits = { calls: 0 }
    expect(runModule(asking, { capabilities: [SYNC], limits })).toMatchObject({
      status: 'exhausted',
      limit: 'calls',
    })
  })

  it('that nobody grants are told before anything runs', () => {
    expect(() => runModule(asking)).toThrow(/imports what nobody grants it: prices\.lookup\./)
    const other = codeOf(
      '(module (import "prices" "lookup" (func (param i32))) (func (export "_start")))',
      false,
    )
    expect(() => runModule(other, { capabilities: [LOOKUP] })).toThrow(/another signature/)
    const memory = codeOf('(module (import "env" "memory" (memory 1)) (func (export "_start")))', false)
    expect(() => runModule(memory)).toThrow(/env\.memory/)
  })
})

describe('other modules', () => {
  it('are refused without an entry, by name', () => {
    expect(() => runModule(codeOf(sample('module-as')))).toThrow(
      /no function "_start"\. .*A command has "_start"/,
    )
    expect(
      runModule(codeOf(sample('module-as')), { program: { entry: 'spin' }, limits: { fuel: 1e6 } }),
    ).toMatchObject({
      status: 'exhausted',
      limit: 'fuel',
    })
  })

  it('are initialised first where they are reactors', () => {
    const turn = runModule(codeOf(sample('reactor-c')), { program: { entry: 'calls' } })
    expect(turn.status).toBe('completed')
  })
})
