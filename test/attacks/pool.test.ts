/**
 * Attacks across the pool: nothing of one guest may be left in any byte of an instance that the next one gets,
 * however the first ended and whatever it did to its own memory.
 */
import { describe, expect, it } from 'vitest'
import type { PooledInstance } from '../../src/isolate/instance-pool.ts'
import { base, engine, FREELY, openPool, startOf } from '../../src/isolate/isolate.testkit.ts'
import { Isolate } from '../../src/isolate/isolate.ts'
import { DEFAULT_LIMITS } from '../../src/machine/limits.ts'
import type { TurnControl } from '../../src/machine/turn.ts'

const SECRET = 'Zx9-correct-horse-battery-9xZ'
const LIMITS = { fuel: 6_000_000, memoryBytes: 2 * 1024 * 1024 }

/** How a guest that saw the secret may end. Capabilities: an awaited `tools.echo`, a sync `tools.sync`. */
const ENDS: Readonly<Record<string, string>> = {
  completed: 'globalThis.kept = input + "!"; return kept.length',
  'out of fuel': 'globalThis.kept = input + "?"; while (1);',
  'out of stack': '(function f(a) { f(a + input[0]) })(input)',
  'out of memory': 'const a = []; for (;;) a.push(input + a.length, new Uint8Array(100))',
  thrown: 'throw new Error(input)',
  'waiting for a call': 'await tools.echo(input)',
  'in the middle of a native sort': '[3, 2, 1].sort(() => { for (;;) String(input + "x") })',
  'aborted in a sync call': 'for (;;) tools.sync(input)',
  'waiting for nothing': 'await new Promise(() => {})',
}

const bytesOf = ({ instance }: PooledInstance): Buffer => Buffer.from(instance.memory.buffer)
const needles = [Buffer.from(SECRET), Buffer.from(SECRET, 'utf16le'), Buffer.from(SECRET.slice(0, 12))]

function fresh(): Buffer {
  return Buffer.from(bytesOf(openPool().acquire()))
}

describe('an instance that a guest with a secret gave back', () => {
  it.each(Object.entries(ENDS))('is the base image in every byte again: %s', (_, source) => {
    const pool = openPool()
    const pooled = pool.acquire()
    let calls = 0
    const isolate = new Isolate(pooled, { call: () => ++calls })
    const control: TurnControl = { ...FREELY, aborted: () => calls > 3 }
    const start = startOf(source, { capabilities: ['tools.echo', '!tools.sync'], limits: LIMITS })
    isolate.start({ ...start, input: SECRET, fileName: `${SECRET}.js` }, control)
    expect(needles.some((needle) => bytesOf(pooled).includes(needle))).toBe(true)
    isolate.dispose()
    const next = pool.acquire()
    expect(bytesOf(next).equals(fresh())).toBe(true)
    expect(next.instance.stackPointer).toBe(engine.layout.stackBase)
    expect(needles.some((needle) => bytesOf(next).includes(needle))).toBe(false)
  })

  it('is so too where the guest wrote over its allocator, its stack and its statics', () => {
    for (const [from, to] of [
      [engine.layout.heapEndAddress, engine.layout.heapEndAddress + 4],
      [8, engine.layout.stackEnd],
      [engine.layout.stackEnd, engine.layout.stackBase],
      [engine.layout.stackBase, 700_000],
    ] as const) {
      const pool = openPool()
      const pooled = pool.acquire()
      const isolate = new Isolate(pooled, {
        call() {
          const memory = bytesOf(pooled)
          for (let at = from; at < to; at += needles[0]?.length ?? 1) memory.write(SECRET, at)
          return 1
        },
      })
      isolate.start(
        startOf('tools.sync(1); return 1', { capabilities: ['!tools.sync'], limits: LIMITS }),
        FREELY,
      )
      isolate.dispose()
      const next = pool.acquire()
      expect(bytesOf(next).equals(fresh())).toBe(true)
    }
  })

  it.each([
    ['captured', 0],
    ['captured, and took another turn', 1],
    ['restored', 2],
    ['restored, and took a turn', 3],
  ] as const)('is so where it was %s: only what is known to differ is written then', (_, how) => {
    const pool = openPool()
    const start = startOf(
      'for (let i = 0; i < 9; i++) globalThis["kept" + i] = (input + (await tools.echo(i))).repeat(500)',
      {
        capabilities: ['tools.echo'],
        limits: LIMITS,
      },
    )
    let pooled = pool.acquire()
    let isolate = new Isolate(pooled, { call: () => undefined })
    isolate.start({ ...start, input: SECRET }, FREELY)
    const settle = (id: number): void => {
      isolate.settle([{ id, ok: true, value: SECRET }], 0, FREELY)
    }
    settle(1)
    const { memoryBytes, changes, state } = isolate.capture()
    if (how >= 2) {
      isolate.dispose()
      pooled = pool.acquire()
      isolate = new Isolate(pooled, { call: () => undefined })
      isolate.restore({
        memoryBytes,
        changes,
        state,
        capabilities: start.capabilities,
        limits: { ...DEFAULT_LIMITS, ...LIMITS },
      })
    }
    expect(needles.some((needle) => bytesOf(pooled).includes(needle))).toBe(true)
    if (how % 2 === 1) settle(2)
    // The stack is in no capture.
    bytesOf(pooled).write(SECRET, engine.layout.stackEnd)
    isolate.dispose()
    expect(pool.acquire()).toBe(pooled)
    expect(bytesOf(pooled).equals(fresh())).toBe(true)
  })

  it('leaves the base image itself as it was', () => {
    const before = base.pages.root()
    const pool = openPool()
    const pooled = pool.acquire()
    bytesOf(pooled).fill(255)
    pooled.release(true)
    expect(bytesOf(pool.acquire()).equals(fresh())).toBe(true)
    expect(base.pages.root()).toBe(before)
  })
})
