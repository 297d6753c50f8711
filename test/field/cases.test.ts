/** Troubles that users of sandboxes have reported, each as a test. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Capability, capability, openRuntime, type Runtime } from '../../src/entry/node.ts'
import { echo } from '../echo-tools.ts'

const MiB = 1024 * 1024

const tools: Capability[] = [
  echo,
  capability({
    name: 'tools.many',
    description: 'Gives so many objects',
    effect: 'read',
    invoke: async (count: unknown) =>
      Array.from({ length: count as number }, (_, i) => ({ i, name: `n${i}` })),
  }),
  capability({
    name: 'tools.never',
    description: 'Never settles',
    effect: 'read',
    invoke: () => new Promise(() => {}),
  }),
  capability({
    name: 'tools.slow',
    description: 'Settles after some milliseconds',
    effect: 'read',
    invoke: async (ms: unknown) => {
      await new Promise((resolve) => setTimeout(resolve, ms as number))
      return 'slow'
    },
  }),
  capability({
    name: 'tools.fail',
    description: 'Rejects',
    effect: 'read',
    invoke: async () => {
      throw new Error('secret path /etc/passwd')
    },
  }),
  capability({
    name: 'tools.throwLate',
    description: 'Throws, synchronously',
    effect: 'read',
    invoke: () => {
      throw new Error('boom')
    },
  }),
  capability({
    name: 'tools.now',
    description: 'A number, inside the turn',
    effect: 'read',
    sync: true,
    invoke: () => 7,
  }),
]
tools.push(
  capability({
    name: 'tools.state',
    description: 'An object whose keys have an order',
    effect: 'read',
    sync: true,
    invoke: () => ({ z: 1, a: [undefined, Number.NaN], m: new Map([['k', '\ud800']]) }),
  }),
)
const grants = tools.map(({ name }) => name)

let runtime: Runtime
const unhandled: unknown[] = []
const onUnhandled = (reason: unknown): void => {
  unhandled.push(reason)
}
beforeAll(async () => {
  process.on('unhandledRejection', onUnhandled)
  runtime = await openRuntime({ capabilities: tools })
})
afterAll(async () => {
  await runtime.close()
  process.off('unhandledRejection', onUnhandled)
})

const valueFrom = async (source: string, options = {}): Promise<unknown> => {
  const outcome = await runtime.run(source, { grants, ...options })
  if (outcome.status !== 'completed') throw new Error(JSON.stringify(outcome))
  return outcome.value
}

describe('cases from the field', () => {
  it('drops a program that leaves 200,000 objects behind', async () => {
    expect(
      await valueFrom('globalThis.kept = Array.from({ length: 2e5 }, (_, i) => ({ i })); return kept.length'),
    ).toBe(200_000)
    expect(await valueFrom('1 + 1')).toBe(2)
  })

  it('goes on after unbounded recursion and after exhausted memory', async () => {
    expect(await runtime.run('(function f() { f() })()')).toMatchObject({ limit: 'stack' })
    const memoryBytes = 8 * MiB
    expect(await runtime.run('const a = []; for (;;) a.push([])', { limits: { memoryBytes } })).toMatchObject(
      {
        limit: 'memory',
      },
    )
    expect(await valueFrom('1 + 1')).toBe(2)
  })

  it('delivers 7,000 objects while another promise is pending', async () => {
    expect(
      await valueFrom(
        'const slow = tools.slow(20); const many = await tools.many(7000); return [many.length, many[6999].name, await slow]',
      ),
    ).toEqual([7_000, 'n6999', 'slow'])
  })

  it('survives memory that grows during a call that holds views', async () => {
    expect(
      await valueFrom(
        `const big = 'x'.repeat(2e6); const back = await Promise.all([tools.echo({ big }), tools.echo(new Uint8Array(3e6).fill(7)), tools.echo([big])])
         return [back[0].big.length, back[1][2999999], back[2][0] === big]`,
      ),
    ).toEqual([2_000_000, 7, true])
  })

  it('evaluates 10,000 programs with a flat heap', async () => {
    for (let i = 0; i < 1_000; i += 1) await runtime.run(`${i} + 1`)
    globalThis.gc?.()
    const before = process.memoryUsage().rss
    for (let i = 0; i < 9_000; i += 1) await runtime.run(`${i} + 1`)
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * MiB)
  }, 120_000)

  it('lets a guest catch a rejecting capability, and the process live', async () => {
    expect(
      await valueFrom(
        "try { await tools.fail() } catch (e) { return [e instanceof Error, e.code, e.message.includes('passwd')] }",
      ),
    ).toEqual([true, 'capability_failed', false])
    expect(await valueFrom('tools.fail().catch(() => {}); tools.throwLate().catch(() => {}); return 1')).toBe(
      1,
    )
    expect(await runtime.run('await tools.fail()', { grants })).toMatchObject({
      status: 'failed',
      error: { code: 'capability_failed' },
    })
    expect(unhandled).toEqual([])
  })

  it('ends a tool that never settles at the wall limit', async () => {
    const outcome = await runtime.run('await tools.never()', { grants, limits: { wallMs: 500 } })
    expect(outcome).toMatchObject({ status: 'exhausted', limit: 'wall' })
    expect(outcome.usage.wallMs).toBeLessThan(5_000)
  })

  it('awaits forty calls in a row whose values are discarded', async () => {
    expect(await valueFrom('for (let i = 0; i < 40; i++) await tools.echo({ i }); return "done"')).toBe(
      'done',
    )
  })

  it('awaits five calls that return objects, then evaluates 1 + 1', async () => {
    expect(
      await valueFrom(
        'for (let i = 0; i < 5; i++) { const o = await tools.echo({ i, list: [i] }); if (o.i !== i) throw 1 } return 1 + 1',
      ),
    ).toBe(2)
  })

  it('reports an async function that throws and is never awaited', async () => {
    const outcome = await runtime.run("(async () => { throw new TypeError('lost') })(); 5")
    expect(outcome).toMatchObject({ status: 'completed', value: 5 })
    expect(outcome.unhandledRejections).toMatchObject([{ name: 'TypeError', message: 'lost' }])
  })

  it('does not report a rejection that is handled later in the turn', async () => {
    const outcome = await runtime.run('const p = Promise.reject(1); await null; p.catch(() => {}); 5')
    expect(outcome.unhandledRejections).toEqual([])
  })

  it('refuses a large argument under a small cap', async () => {
    const outcome = await runtime.run("await tools.echo('x'.repeat(5e6))", {
      grants,
      limits: { bytesOut: 1_000_000 },
    })
    expect(outcome).toMatchObject({ status: 'exhausted', limit: 'bytes' })
  })

  it('names line and column of the guest source in errors', async () => {
    const outcome = await runtime.run('const a = 1\nconst b = a.x.y\nreturn b')
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { name: 'TypeError', position: { file: 'program.js', line: 2, column: 14 } },
    })
    expect(await runtime.run('return null.x')).toMatchObject({ error: { position: { line: 1, column: 12 } } })
  })

  it('passes Map, Date, Int8Array(-1) and Float32(1.5) through a call and back', async () => {
    const value = await valueFrom(
      'return await tools.echo({ m: new Map([[1, { a: 1 }]]), d: new Date(5), i: new Int8Array([-1]), f: new Float32Array([1.5]), b: 10n ** 30n, n: [NaN, -0, undefined], s: "\\ud800" })',
    )
    expect(value).toEqual({
      m: new Map([[1, { a: 1 }]]),
      d: new Date(5),
      i: new Int8Array([-1]),
      f: new Float32Array([1.5]),
      b: 10n ** 30n,
      n: [Number.NaN, -0, undefined],
      s: '\ud800',
    })
  })

  it('lets the host’s timers fire while a guest loops in a Worker', async () => {
    let ticks = 0
    const timer = setInterval(() => {
      ticks += 1
    }, 4)
    const outcome = await runtime.run('while (1);', {
      thread: 'worker',
      limits: { fuel: 2 ** 52, wallMs: 400 },
    })
    clearInterval(timer)
    expect(outcome).toMatchObject({ status: 'exhausted', limit: 'wall' })
    expect(ticks).toBeGreaterThan(10)
  })

  it('answers sync and awaited calls from a Worker', async () => {
    expect(
      await valueFrom('return [tools.now(), await tools.echo(new Map([[1, 2]])), tools.now()]', {
        thread: 'worker',
      }),
    ).toEqual([7, new Map([[1, 2]]), 7])
  })

  it('ends in the same state in a Worker as in the host’s thread', async () => {
    const source =
      'const a = tools.state(); const b = await tools.echo({ z: 1, a: 2 }); return JSON.stringify([a, b, Math.random()])'
    const options = { grants, seed: 5, stateDigest: true }
    const here = await runtime.run(source, options)
    const there = await runtime.run(source, { ...options, thread: 'worker' })
    expect(here).toMatchObject({ status: 'completed' })
    expect(there).toMatchObject({ value: (here as { value?: unknown }).value, stateDigest: here.stateDigest })
    expect(there.usage.fuel).toBe(here.usage.fuel)
  })

  it('runs 60 heavy programs at once, in line instead of failing', async () => {
    const narrow = await openRuntime({ capabilities: tools, concurrency: 4 })
    const source = 'let s = 0; for (let i = 0; i < 2e4; i++) s += i; await tools.slow(1); return s'
    const outcomes = await Promise.all(Array.from({ length: 60 }, () => narrow.run(source, { grants })))
    await narrow.close()
    expect(outcomes.map((outcome) => outcome.status)).toEqual(Array(60).fill('completed'))
    expect(new Set(outcomes.map((outcome) => outcome.usage.fuel)).size).toBe(1)
  })

  it('gates the call of a program that replaced every global', async () => {
    const outcome = await runtime.run(
      `const call = tools.echo
       for (const name of Object.getOwnPropertyNames(globalThis)) try { globalThis[name] = () => { throw 'gone' } } catch {}
       for (const proto of [Object, Array, Promise, Function, Map, String].map((c) => c.prototype)) {}
       return await call({ a: 1 })`,
      { grants },
    )
    expect(outcome.usage.calls).toBe(outcome.status === 'completed' ? 1 : 0)
    const poisoned = await runtime.run(
      `Object.prototype.toJSON = () => 'forged'; Object.prototype.then = undefined
       Array.prototype[Symbol.iterator] = null; Promise.prototype.then = () => { throw 1 }; JSON.stringify = () => 'forged'
       Map.prototype.set = () => { throw 2 }; globalThis.Promise = null; globalThis.JSON = null
       const back = await tools.echo({ a: [1, 2], m: 3 })
       return back`,
      { grants },
    )
    expect(poisoned).toMatchObject({ status: 'completed', value: { a: [1, 2], m: 3 } })
  })

  it('has a stable code when nothing will ever happen', async () => {
    expect(await runtime.run('await new Promise(() => {})')).toMatchObject({
      status: 'failed',
      error: { code: 'stalled' },
    })
  })

  it('waits for calls that were started and not awaited', async () => {
    const seen: unknown[] = []
    const writing = await openRuntime({
      capabilities: [
        capability({
          name: 'log.write',
          description: 'Writes',
          effect: 'write',
          invoke: async (x: unknown) => {
            seen.push(x)
          },
        }),
      ],
    })
    expect(await writing.run('log.write("a"); return 1', { grants: ['log.write'] })).toMatchObject({
      value: 1,
    })
    expect(seen).toEqual(['a'])
    await writing.close()
  })
})

describe('step by step', () => {
  it('lets the embedder answer by hand', async () => {
    const guest = await runtime.start(
      'const a = await tools.echo(1); const b = await tools.echo(a + 1); return b',
      {
        grants,
      },
    )
    expect(guest.pending).toMatchObject([{ id: 1, capability: 'tools.echo', args: 1 }])
    await guest.settle(1, 10)
    expect(guest.pending).toMatchObject([{ id: 2, args: 11 }])
    await guest.invoke(2)
    expect(guest.outcome).toMatchObject({ status: 'completed', value: 11 })
  })
})
