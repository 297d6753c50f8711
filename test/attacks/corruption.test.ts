/**
 * Attacks from an engine that was taken over (memory-safety bugs of the engine are known): its memory holds
 * anything, and it calls the host's imports with anything. Only that guest ends.
 */
import { describe, expect, it } from 'vitest'
import { FREELY, newIsolate, openPool, startOf } from '../../src/isolate/isolate.testkit.ts'
import { Isolate } from '../../src/isolate/isolate.ts'
import type { Turn } from '../../src/machine/turn.ts'
import { corruptGuests } from './guest-corruption.ts'

describe('a guest that can write anywhere in its memory', () => {
  it('ends like any other, or goes on; nothing of the host fails', () => {
    corruptGuests(200, 1_000_000)
  }, 120_000)
})

type Import = (...args: (number | bigint)[]) => unknown

/** Runs a guest that calls `attack` with the imports of its own instance in the middle of a turn. */
function inTurn(attack: (imports: Record<string, Import>) => void): Turn {
  const { Instance } = WebAssembly
  let imports: Record<string, Import> = {}
  const spy = class {
    constructor(module: WebAssembly.Module, given: WebAssembly.Imports) {
      imports = given.env as Record<string, Import>
      // biome-ignore lint/correctness/noConstructorReturn: it stands in for the real one
      return new Instance(module, given)
    }
  }
  const pool = openPool()
  WebAssembly.Instance = spy as unknown as typeof Instance
  let pooled: ReturnType<typeof pool.acquire>
  try {
    pooled = pool.acquire()
  } finally {
    WebAssembly.Instance = Instance
  }
  let attacked = false
  const isolate = new Isolate(pooled, {
    call() {
      if (!attacked) attack(imports)
      attacked = true
      return 1
    },
  })
  const start = startOf('console.log(1); tools.sync(1); tools.sync(2); return 5', {
    capabilities: ['!tools.sync', 'tools.echo'],
    limits: { memoryBytes: 2 * 1024 * 1024 },
  })
  const turn = isolate.start(start, FREELY)
  isolate.dispose()
  const neighbour = newIsolate(pool)
  expect(neighbour.start(startOf('1 + 2'), FREELY)).toMatchObject({ status: 'completed', value: 3 })
  neighbour.dispose()
  return turn
}

describe('imports called with anything', () => {
  const numbers = [0, 1, -1, 5, 15, 16, 17, 18, 4096, 786_428, 786_432, 2 ** 30, 2 ** 31 - 1, -(2 ** 31)]
  const bigs = [0n, 1n, -1n, 2n ** 63n - 1n, -(2n ** 63n), 0xffff_ffff_0009_0000n, 0xffff_ffffn]
  let names: string[] = []
  inTurn((imports) => {
    names = Object.keys(imports).filter((name) => name !== 'memory')
  })

  it.each(names)('%s neither throws nor works for long', (name) => {
    expect(names).toContain('call_function')
    let seed = 1
    const next = <T>(list: readonly T[]): T => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
      return list[(seed >>> 16) % list.length] as T
    }
    for (let i = 0; i < 12; i += 1) {
      const number = (): number => next(numbers)
      let args: (number | bigint)[] = [number(), number(), number(), number(), number()]
      if (name === 'promise_rejection') args = [number(), next(bigs), next(bigs), number()]
      if (name === 'localtime') args = [next(bigs), number()]
      const began = performance.now()
      const turn = inTurn((imports) => {
        expect(() => imports[name]?.(...args)).not.toThrow()
      })
      expect(['completed', 'waiting', 'failed', 'exhausted']).toContain(turn.status)
      if (turn.status === 'failed') expect(turn.error.code).toBe('engine_trap')
      expect(performance.now() - began).toBeLessThan(3_000)
    }
  })
})
