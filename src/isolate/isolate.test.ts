import { describe, expect, it } from 'vitest'
import { CaissonError } from '../base/errors.ts'
import { EngineInstance } from './engine-instance.ts'
import { base, engine, FREELY, newIsolate, openPool, startOf } from './isolate.testkit.ts'

const pool = openPool()
const now = Date.UTC(2026, 0, 1)

const codeOf = (act: () => unknown): unknown => {
  try {
    act()
    return undefined
  } catch (error) {
    return CaissonError.is(error) ? error.code : error
  }
}

describe('an isolate', () => {
  it('asks calls in order and goes on with the answers', () => {
    const isolate = newIsolate(pool)
    const first = isolate.start(
      startOf('const [a, b] = await Promise.all([t.x({ n: 1 }), t.y()]); return a + b', {
        capabilities: ['t.x', 't.y'],
      }),
      FREELY,
    )
    expect(first).toMatchObject({
      status: 'waiting',
      calls: [
        { id: 1, capability: 't.x', args: { n: 1 }, askedAtMs: now },
        { id: 2, capability: 't.y', args: undefined },
      ],
    })
    expect(isolate.settle([{ id: 2, ok: true, value: 'b' }], now, FREELY)).toMatchObject({
      status: 'waiting',
      calls: [],
    })
    expect(isolate.settle([{ id: 1, ok: true, value: 'a' }], now, FREELY)).toMatchObject({
      status: 'completed',
      value: 'ab',
    })
    isolate.dispose()
  })

  it('has an input in every form, undefined where the host gives none', () => {
    for (const source of ['typeof input', 'return typeof input', 'export default (given) => typeof given']) {
      const isolate = newIsolate(pool)
      expect(isolate.start(startOf(source), FREELY)).toMatchObject({
        status: 'completed',
        value: 'undefined',
      })
      isolate.dispose()
    }
  })

  it('delivers none of the calls of a turn that ends at a limit', () => {
    const isolate = newIsolate(pool)
    const turn = isolate.start(
      startOf('t.pay(1); t.pay(2); while (1);', { capabilities: ['t.pay'], limits: { fuel: 10_000_000 } }),
      FREELY,
    )
    expect(turn).toMatchObject({ status: 'exhausted', limit: 'fuel', calls: [] })
    expect(turn.usage.calls).toBe(2)
    expect(isolate.pending).toEqual([])
    isolate.dispose()
  })

  it('takes no turn after its end, and settles nothing that is not pending', () => {
    const isolate = newIsolate(pool)
    isolate.start(startOf('await t.x(); return 1', { capabilities: ['t.x'] }), FREELY)
    expect(codeOf(() => isolate.settle([{ id: 7, ok: true, value: 1 }], now, FREELY))).toBe('unknown_call')
    const twice = { id: 1, ok: true, value: 1 } as const
    expect(codeOf(() => isolate.settle([twice, twice], now, FREELY))).toBe('unknown_call')
    isolate.settle([twice], now, FREELY)
    expect(codeOf(() => isolate.settle([twice], now, FREELY))).toBe('isolate_destroyed')
    expect(codeOf(() => isolate.start(startOf('1'), FREELY))).toBe('isolate_destroyed')
    isolate.dispose()
    expect(codeOf(() => isolate.stateDigest())).toBe('isolate_destroyed')
  })

  it('has one digest whatever its seed and clock, as long as it uses neither', () => {
    const digestOf = (source: string, seed: number, nowMs: number): string => {
      const isolate = newIsolate(pool)
      isolate.start({ ...startOf(source), seed: new Uint8Array(32).fill(seed), nowMs }, FREELY)
      const digest = isolate.stateDigest()
      isolate.dispose()
      return digest
    }
    const plain = 'let s = 0; for (let i = 0; i < 100; i++) s += i; s'
    expect(digestOf(plain, 1, now)).toBe(digestOf(plain, 2, now + 5_000))
    const random = 'globalThis.r = Math.random(); 1'
    expect(digestOf(random, 1, now)).not.toBe(digestOf(random, 2, now))
  })

  it('rejects with the path of an argument that cannot cross, without asking anything', () => {
    const isolate = newIsolate(pool)
    const turn = isolate.start(
      startOf(
        "try { await t.x({ list: [1, () => 2] }) } catch (e) { return [e.code, e.message.includes('list[1]')] }",
        {
          capabilities: ['t.x'],
        },
      ),
      FREELY,
    )
    expect(turn).toMatchObject({ status: 'completed', value: ['value_refused', true] })
    isolate.dispose()
  })

  it('is destroyed, and nothing else, when a host function throws under the guest', () => {
    const isolate = newIsolate(pool, {
      call: () => {
        throw new Error('defect')
      },
    })
    const start = startOf('t.now()', { capabilities: ['!t.now'] })
    expect(codeOf(() => isolate.start(start, FREELY))).toBe('isolate_destroyed')
    isolate.dispose()
    const neighbour = newIsolate(pool)
    expect(neighbour.start(startOf('1 + 2'), FREELY)).toMatchObject({ status: 'completed', value: 3 })
    neighbour.dispose()
  })

  it('stops at a deadline that passes while it computes', () => {
    let clock = 0
    const timed = openPool(() => {
      clock += 1
      return clock
    })
    const isolate = newIsolate(timed)
    expect(isolate.start(startOf('while (1);'), { deadline: 20 })).toMatchObject({
      status: 'exhausted',
      limit: 'wall',
    })
    isolate.dispose()
  })
})

describe('the pool', () => {
  it('hands out instances whose every byte is that of the base image', () => {
    const own = openPool()
    const secret = 'correct-horse-battery-staple'
    const isolate = newIsolate(own)
    isolate.start(
      {
        ...startOf(
          'globalThis.kept = []; for (let i = 0; i < 80; i++) kept.push(input.repeat(60) + i); kept.length',
        ),
        input: secret,
      },
      FREELY,
    )
    isolate.dispose()
    const again = own.acquire().instance
    const fresh = new EngineInstance(engine, 4_096, () => 0)
    base.restore(fresh)
    expect(Buffer.compare(again.bytes, fresh.bytes)).toBe(0)
    expect(Buffer.from(again.bytes).includes(secret)).toBe(false)
  })

  it('never hands out an instance that grew', () => {
    const own = openPool()
    const greedy = newIsolate(own)
    const turn = greedy.start(startOf('new Uint8Array(5e6).length'), FREELY)
    greedy.dispose()
    const next = newIsolate(own)
    const after = next.start(startOf('1'), FREELY)
    next.dispose()
    expect(after.usage.memoryBytes).toBeLessThan(turn.usage.memoryBytes)
    expect(after.usage.memoryBytes).toBe(engine.layout.initialPages * 65_536)
  })
})
