/** Preview 1 as a real guest in C finds it, and as a hostile one would call it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { WasiHost, WasiState, WasiTurns, WasiWorld } from '../../../src/ports/wasi-host.ts'
import { createWasiMemoryTree } from '../files/memory-tree.ts'
import { openWasiHost } from '../wasi-host.ts'
import { testClock, testRandom, testTurns, testWorld } from '../wasi-world.testkit.ts'

const BUILT = join(import.meta.dirname, '../../../guest/samples/built')
const command = new WebAssembly.Module(readFileSync(join(BUILT, 'command-c.wasm')))

/** Runs it to its end, which may be the trap that follows an exit. */
function run(
  args: readonly string[],
  world: Partial<WasiWorld> = {},
  turns: Partial<WasiTurns> = {},
): WasiHost {
  const host = openWasiHost(testWorld({ ...world, args: ['command', ...args] }), testTurns(turns))
  const instance = new WebAssembly.Instance(command, { wasi_snapshot_preview1: host.preview1() as never })
  host.attach(instance.exports.memory as WebAssembly.Memory)
  try {
    ;(instance.exports._start as () => void)()
  } catch (error) {
    expect(error).toBeInstanceOf(WebAssembly.RuntimeError)
  }
  return host
}

const out = (host: WasiHost): string => new TextDecoder().decode(host.stdout.bytes)
const err = (host: WasiHost): string => new TextDecoder().decode(host.stderr.bytes)

describe('a preview-1 command', () => {
  it('gets its arguments, environment and input, and nothing of the process', () => {
    expect(out(run(['args', 'ä', '']))).toContain('ä\n')
    expect(out(run(['env'], { env: { A: '1', B: 'ü' } }))).toBe('A=1\nB=ü\n')
    expect(out(run(['env']))).toBe('')
    expect(out(run(['upper'], { stdin: new TextEncoder().encode('loud') }))).toBe('LOUD')
    expect(out(run(['upper']))).toBe('')
  })

  it('ends by an exit that is recorded, told once, and writes nothing after it', () => {
    const halted: unknown[] = []
    const host = run(['exit', '7'], {}, { halt: (end) => halted.push(end) })
    expect(host.end).toEqual({ kind: 'exit', code: 7 })
    expect(halted).toEqual([{ kind: 'exit', code: 7 }])
    const before = host.stdout
    const call = host.preview1().fd_write as unknown as (...args: number[]) => number
    expect(call(1, 0, 0, 0)).not.toBe(0)
    expect(host.stdout).toEqual(before)
  })

  it('closes standard output twice, and is told the second time', () => {
    const host = run(['close-twice'])
    expect(err(host)).toMatch(/bad file descriptor/i)
    expect(host.end ?? { kind: 'exit', code: 0 }).toMatchObject({ code: 0 })
  })

  it('has no clock, randomness or files that were not granted', () => {
    // The C library does not look whether the clock gave anything.
    expect(out(run(['time']))).toBe('0\n')
    for (const args of [['random'], ['list', '/'], ['copy', '/a', '/b']]) {
      const host = run(args)
      expect([args, host.end], err(host)).toEqual([args, { kind: 'exit', code: 1 }])
    }
  })

  it('reads and writes files of a granted directory, and gets EROFS where it may only read', () => {
    const tree = createWasiMemoryTree({ files: { a: 'content' } })
    const directories = [{ guestPath: '/data', tree, writable: true }]
    expect(err(run(['copy', '/data/a', '/data/b'], { directories }))).toBe('')
    expect(new TextDecoder().decode(tree.files().get('b'))).toBe('content')
    const reading = [{ guestPath: '/data', tree }]
    expect(err(run(['copy', '/data/a', '/data/c'], { directories: reading }))).toMatch(/read-only/i)
    expect([...tree.files().keys()]).toEqual(['a', 'b'])
  })

  it('sleeps in logical time, through the machine', () => {
    const clock = testClock()
    const waits: bigint[] = []
    const host = run(
      ['sleep', '60000'],
      { clock },
      {
        wait: ({ untilNs = 0n }) => {
          waits.push(untilNs)
          clock.moveTo(untilNs)
          return 'ready'
        },
      },
    )
    expect(out(host)).toMatch(/^6000\d\n$/)
    expect(waits).toHaveLength(1)
    expect(err(run(['sleep', '5'], { clock: testClock() }))).not.toBe('')
  })

  it('draws the same for the same seed', () => {
    expect(out(run(['random'], { random: testRandom() }))).toBe(
      out(run(['random'], { random: testRandom() })),
    )
  })

  it('writes more than is kept, and what is dropped is counted', () => {
    const stdin = new Uint8Array(5_000).fill(97)
    const host = run(['upper'], { stdin, limits: { ...testWorld().limits, stdoutBytes: 100 } })
    expect([host.stdout.bytes.length, host.stdout.droppedBytes]).toEqual([100, 4_900])
  })
})

describe('an import that is called by somebody hostile', () => {
  type Call = (...args: (number | bigint)[]) => number
  const BIG = [0, 1, -1, 3, 65_535, 65_536, 2 ** 31, 2 ** 32 - 1]

  it('returns an errno, whatever it gets, and never throws (attack 26)', () => {
    const tree = createWasiMemoryTree({ files: { a: 'x' } })
    const host = openWasiHost(
      testWorld({
        directories: [{ guestPath: '/', tree, writable: true }],
        clock: testClock(),
        random: testRandom(),
      }),
      testTurns({ wait: () => 'ready' }),
    )
    const memory = new WebAssembly.Memory({ initial: 1 })
    const names = Object.keys(host.preview1()).filter((name) => !name.startsWith('proc_'))
    expect(names.length).toBeGreaterThan(40)
    const call = (name: string, seed: number): unknown => {
      const act = host.preview1()[name] as unknown as Call
      const args = Array.from(
        { length: 9 },
        (_, at) => BIG[(seed * 7 + at * 5 + (seed >> at)) % BIG.length] ?? 0,
      )
      try {
        return act(...args)
      } catch {
        // What takes an i64 gets one from a guest; here it is told apart by the type error of the shim.
        return act(...args.map((arg, at) => (at % 2 === 1 ? BigInt(arg) : arg)))
      }
    }
    for (const attach of [false, true]) {
      if (attach) host.attach(memory)
      for (const name of names) {
        for (let seed = 0; seed < 200; seed += 1) expect(typeof call(name, seed), name).toBe('number')
      }
    }
  })

  it('reads nothing beyond the memory and writes nothing before it fails', () => {
    const host = openWasiHost(testWorld({ stdin: new Uint8Array(9) }), testTurns())
    const memory = new WebAssembly.Memory({ initial: 1 })
    host.attach(memory)
    const view = new DataView(memory.buffer)
    const imports = host.preview1() as unknown as Readonly<Record<string, Call>>
    const EFAULT = 21
    const EINVAL = 28
    // One part in memory, one beyond it: neither is written.
    view.setUint32(0, 100, true)
    view.setUint32(4, 8, true)
    view.setUint32(8, 65_530, true)
    view.setUint32(12, 8, true)
    expect(imports.fd_write?.(1, 0, 2, 32)).toBe(EFAULT)
    expect(host.stdout.bytes).toHaveLength(0)
    // The result does not fit: nothing is read either.
    expect(imports.fd_read?.(0, 0, 1, 65_533)).toBe(EFAULT)
    expect(imports.fd_read?.(0, 0, 1, 32)).toBe(0)
    expect(view.getUint32(32, true)).toBe(8)
    expect(imports.fd_write?.(1, 0, 2 ** 30, 32)).toBe(EINVAL)
    expect(imports.poll_oneoff?.(0, 0, 2 ** 30, 32)).toBe(EINVAL)
    expect(imports.random_get?.(0, 65_537)).toBe(EFAULT)
  })

  it('has as many descriptors as it may, the lowest free one first, and none is lost in 100,000 calls', () => {
    const tree = createWasiMemoryTree({ files: { a: 'x' } })
    const limits = { ...testWorld().limits, descriptors: 6 }
    const host = openWasiHost(testWorld({ directories: [{ guestPath: '/', tree }], limits }), testTurns())
    const memory = new WebAssembly.Memory({ initial: 1 })
    host.attach(memory)
    const bytes = new Uint8Array(memory.buffer)
    bytes[0] = 97
    const view = new DataView(memory.buffer)
    const imports = host.preview1() as unknown as Readonly<Record<string, Call>>
    const open = (): number => imports.path_open?.(3, 0, 0, 1, 0, 2n, 0n, 0, 8) ?? -1
    const close = (fd: number): number => imports.fd_close?.(fd) ?? -1
    expect([open(), view.getUint32(8, true), open(), open()]).toEqual([0, 4, 0, 33])
    expect([close(4), open(), view.getUint32(8, true)]).toEqual([0, 0, 4])
    for (let round = 0; round < 100_000; round += 1) {
      close(4)
      if (open() !== 0 || view.getUint32(8, true) !== 4) throw new Error(`lost in round ${round}`)
    }
    expect(tree.memory.capture([]).nodes).toHaveLength(2)
  })
})

describe('the state of a preview-1 guest', () => {
  type Call = (...args: (number | bigint)[]) => number
  const make = (
    state?: WasiState,
  ): { host: WasiHost; imports: Readonly<Record<string, Call>>; view: DataView } => {
    const tree = createWasiMemoryTree({ files: { a: 'abcdef' } })
    const world = testWorld({
      stdin: new TextEncoder().encode('input'),
      directories: [{ guestPath: '/', tree, writable: true }],
      clock: testClock(),
      random: testRandom(),
    })
    const host = openWasiHost(world, testTurns({ wait: () => 'suspended' }), state)
    const memory = new WebAssembly.Memory({ initial: 1 })
    host.attach(memory)
    new Uint8Array(memory.buffer)[0] = 97
    const view = new DataView(memory.buffer)
    view.setUint32(16, 1_000, true)
    view.setUint32(20, 3, true)
    return { host, imports: host.preview1() as unknown as Readonly<Record<string, Call>>, view }
  }
  const read = ({ imports, view }: ReturnType<typeof make>, fd: number): string => {
    imports.fd_read?.(fd, 16, 1, 24)
    return new TextDecoder().decode(new Uint8Array(view.buffer, 1_000, view.getUint32(24, true)))
  }

  it('goes on in another host: files, offsets, names that are gone, streams, clock and randomness', () => {
    const before = make()
    before.imports.path_open?.(3, 0, 0, 1, 0, 66n, 0n, 0, 8)
    expect(read(before, 4)).toBe('abc')
    expect(read(before, 0)).toBe('inp')
    before.imports.path_unlink_file?.(3, 0, 1)
    before.imports.fd_write?.(1, 16, 1, 24)
    before.imports.random_get?.(2_000, 8)
    const state = structuredClone(before.host.capture())
    const after = make(state)
    expect(after.host.capture()).toEqual(state)
    expect([read(after, 4), read(after, 0)]).toEqual(['def', 'ut'])
    expect(after.imports.path_filestat_get?.(3, 0, 0, 1, 3_000)).toBe(44)
    const draw = ({ imports, view }: ReturnType<typeof make>): bigint => {
      imports.random_get?.(2_000, 8)
      imports.clock_time_get?.(1, 0n, 2_100)
      return view.getBigUint64(2_000, true) + view.getBigUint64(2_100, true)
    }
    expect(draw(after)).toBe(draw(before))
  })

  it('does not begin a sleep anew that it was suspended in', () => {
    const before = make()
    before.view.setUint8(3_008, 0)
    before.view.setUint32(3_016, 1, true)
    before.view.setBigUint64(3_024, 1_000_000n, true)
    expect(before.imports.poll_oneoff?.(3_000, 4_000, 1, 4_100)).toBe(0)
    expect(before.view.getUint32(4_100, true)).toBe(0)
    const { waitingSinceNs, clock } = before.host.capture()
    expect(waitingSinceNs).not.toBeNull()
    const after = make({ ...before.host.capture(), clock: clock + 2_000_000n })
    new Uint8Array(after.view.buffer).set(new Uint8Array(before.view.buffer).subarray(3_000, 3_048), 3_000)
    expect(after.imports.poll_oneoff?.(3_000, 4_000, 1, 4_100)).toBe(0)
    expect(after.view.getUint32(4_100, true)).toBe(1)
    expect(after.host.capture().waitingSinceNs).toBeNull()
  })

  it('is refused where it does not fit the world, or is no state', () => {
    const good = make().host.capture()
    const edits: readonly object[] = [
      { version: 2 },
      { stdinOffset: 99 },
      { stdout: { bytes: 'x', droppedBytes: 0 } },
      { trees: [null] },
      { descriptors: undefined },
      { descriptors: [{ ...good.descriptors[0], number: 1e9 }] },
      {
        descriptors: [{ ...good.descriptors[0], handle: { kind: 'file', grant: 0, inode: 77n, offset: 0n } }],
      },
      { descriptors: [{ ...good.descriptors[0], handle: { kind: 'granted', grant: 5 } }] },
      { descriptors: [{ ...good.descriptors[0], handle: { kind: 'socket' } }] },
      { resources: [{ id: 0, kind: 'pollable', data: { kind: 'now' } }] },
    ]
    for (const edit of edits) {
      expect(() => make({ ...good, ...edit } as WasiState), JSON.stringify(Object.keys(edit))).toThrow(
        expect.objectContaining({ code: 'corrupted' }),
      )
    }
  })
})
