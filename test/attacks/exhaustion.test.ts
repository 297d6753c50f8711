/**
 * Attacks on limits: reached in the middle of a host call, caught, hidden behind slow host functions. A limit
 * is always reported as itself, nothing that the guest asks for afterwards reaches the host, and the host's own
 * work inside a turn counts.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Capability, capability, type Outcome, openRuntime, type Runtime } from '../../src/entry/node.ts'

const MiB = 1024 * 1024
/** Names of the capabilities that were invoked. */
let invoked: string[] = []

function sync(name: string, invoke: (input: unknown) => unknown): Capability {
  return capability({
    name,
    description: 'Inside the turn',
    effect: 'read',
    sync: true,
    invoke: (input: unknown) => {
      invoked.push(name)
      return invoke(input)
    },
  })
}

function spin(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

const nested = (levels: number): unknown => {
  let value: unknown = 1
  for (let i = 0; i < levels; i++) value = { value }
  return value
}

const tools: Capability[] = [
  sync('tools.sync', (value) => value),
  sync('tools.spin', (ms) => spin(ms as number)),
  sync('tools.text', (length) => 'x'.repeat(length as number)),
  sync('tools.big', (bits) => 1n << BigInt(bits as number)),
  sync('tools.nested', (levels) => nested(levels as number)),
  capability({
    name: 'tools.echo',
    description: 'Awaited',
    effect: 'read',
    invoke: async (value: unknown) => {
      invoked.push('tools.echo')
      return value
    },
  }),
]
tools.push(
  capability({
    name: 'tools.awaitedBig',
    description: 'A BigInt of so many bits',
    effect: 'read',
    invoke: async (bits: unknown) => 1n << BigInt(bits as number),
  }),
)
const grants = tools.map(({ name }) => name)

let runtime: Runtime
beforeAll(async () => {
  runtime = await openRuntime({ capabilities: tools })
})
afterAll(() => runtime.close())
beforeEach(() => {
  invoked = []
})
afterEach(async () => {
  expect(await runtime.run('1 + 2')).toMatchObject({ status: 'completed', value: 3 })
})

const run = (source: string, limits: object): Promise<Outcome> => runtime.run(source, { grants, limits })

describe('a limit that is reached inside a host call', () => {
  it('is "memory" where the result does not fit, caught or not', async () => {
    const limits = { memoryBytes: 4 * MiB }
    for (const source of [
      'tools.text(1e7); return 1',
      'for (let i = 0; i < 5; i++) try { tools.text(1e7) } catch {} return 1',
    ]) {
      expect(await run(source, limits)).toMatchObject({ status: 'exhausted', limit: 'memory' })
    }
  })

  it('is "memory" where so many calls are pending that no promise fits any more', async () => {
    const outcome = await run('for (;;) tools.echo(1)', {
      calls: 2 ** 31,
      memoryBytes: 4 * MiB,
      bytesOut: 2 ** 31,
    })
    expect(outcome).toMatchObject({ status: 'exhausted', limit: 'memory' })
    expect(invoked).toEqual([])
  })

  it('is "stack" where the host writes a value near the end of the stack', async () => {
    for (const levels of [30, 300]) {
      const outcome = await run(`(function f() { tools.nested(${levels}); f() })()`, { calls: 100_000 })
      expect(outcome).toMatchObject({ status: 'exhausted', limit: 'stack' })
    }
  })

  it('is "fuel" where building a result takes the last of it', async () => {
    const outcome = await run('for (;;) tools.nested(100)', { calls: 2 ** 31, fuel: 50_000_000 })
    expect(outcome).toMatchObject({ status: 'exhausted', limit: 'fuel' })
  })
})

describe('a result that a guest cannot take', () => {
  it('is a failure that the guest can catch, sync and awaited', async () => {
    const outcome = await run(
      `const codes = []
       try { tools.big(3e6) } catch (e) { codes.push(e.code) }
       try { await tools.awaitedBig(3e6) } catch (e) { codes.push(e.code) }
       return codes`,
      {},
    )
    expect(outcome).toMatchObject({ status: 'completed', value: ['invalid_result', 'invalid_result'] })
  })
})

describe('the wall deadline', () => {
  it('holds against a sync capability that blocks the host', async () => {
    const outcome = await run('for (;;) tools.spin(10)', { wallMs: 100, fuel: 2 ** 50 })
    expect(outcome).toMatchObject({ status: 'exhausted', limit: 'wall' })
    // Ten calls fill the time; the first look may come some calls late.
    expect(invoked.length).toBeLessThan(40)
  })

  it('holds against sync calls that turn slow after many fast ones', async () => {
    const outcome = await run('for (let i = 0; i < 5e3; i++) tools.sync(i); for (;;) tools.spin(20)', {
      wallMs: 1_000,
      fuel: 2 ** 50,
      calls: 100_000,
    })
    expect(outcome).toMatchObject({ status: 'exhausted', limit: 'wall' })
    expect(invoked.filter((name) => name === 'tools.spin').length).toBeLessThan(80)
  })

  it('holds against arguments and log lines that are long to look through, and is told as such', async () => {
    const collide = 'new Map(Array.from({ length: 6e3 }, (_, i) => [i * 1e6 + 0.5, 1]))'
    const hidden = `Array.from({ length: 60 }, () => {
      const o = {}; for (let i = 0; i < 3e3; i++) Object.defineProperty(o, 'k' + i, { value: i }); return o })`
    for (const source of [
      `const m = ${collide}; for (;;) tools.sync(m)`,
      `const m = [${collide}, () => 1]; for (;;) try { tools.sync(m) } catch {}`,
      `const m = [${collide}, () => 1]; for (;;) tools.echo(m).catch(() => {})`,
      `const a = ${hidden}; for (;;) console.log(a)`,
    ]) {
      const began = performance.now()
      const outcome = await run(source, {
        wallMs: 500,
        fuel: 2 ** 50,
        calls: 2 ** 31,
        bytesOut: 2 ** 31,
        memoryBytes: 128 * MiB,
      })
      expect(outcome).toMatchObject({ status: 'exhausted', limit: 'wall' })
      // Without a look at the clock after the host's work: 250 calls, some seconds.
      expect(performance.now() - began).toBeLessThan(2_500)
    }
  })
})

describe('fuel', () => {
  it('pays for what the host looks through, also where it is refused or shows as little', async () => {
    const hidden = `const o = {}; for (let i = 0; i < 5e3; i++) Object.defineProperty(o, 'k' + i, { value: i });`
    const fuelOf = async (source: string): Promise<number> => {
      const outcome = await run(source, { calls: 100_000, bytesOut: 2 ** 31 })
      expect(outcome.status).toBe('completed')
      return outcome.usage.fuel
    }
    for (const work of [
      'console.log(o)',
      'try { tools.sync(o) } catch {}',
      'tools.echo([o, () => 1]).catch(() => {})',
      'Promise.reject(o).catch(() => {})',
    ]) {
      const [few, many] = [
        await fuelOf(`${hidden} for (let i = 0; i < 20; i++) { ${work} } 1`),
        await fuelOf(`${hidden} for (let i = 0; i < 40; i++) { ${work} } 1`),
      ]
      // 5,000 properties looked at, twenty times more often, by the price of a byte.
      expect(many - few).toBeGreaterThan(20 * 5_000 * 8)
    }
  })
})

describe('log lines', () => {
  it('are bounded while the turn runs, also where they are empty', async () => {
    for (const line of ['', "''", "'x'", '...[]']) {
      const outcome = await run(`for (let i = 0; i < 5e4; i++) console.log(${line})`, { logBytes: 16_000 })
      expect(outcome.status).toBe('completed')
      expect(outcome.logs.length).toBeLessThanOrEqual(1_000)
      expect(outcome.logs.length + outcome.usage.logsDropped).toBe(50_000)
      // What the isolate drops is dropped at once: it costs the guest no more than the call.
      const all = await run(`for (let i = 0; i < 5e4; i++) console.log(${line})`, { logBytes: 2 ** 30 })
      expect(all.usage.fuel - outcome.usage.fuel).toBeGreaterThanOrEqual(49_000 * 2_000)
    }
  })
})

describe('a guest that is ended', () => {
  const caught = (work: string): readonly [string, string][] => [
    ['in catch', `for (;;) try { ${work} } catch { tools.sync(1); tools.echo(1) }`],
    ['in finally', `try { ${work} } finally { tools.sync(1); tools.echo(1) }`],
    [
      'in an async finally',
      `await (async () => { try { await 0; ${work} } finally { await tools.echo(1) } })()`,
    ],
    [
      'in a generator',
      `for (const x of (function* () { try { ${work} } finally { tools.sync(1); yield 1 } })()) tools.echo(1)`,
    ],
    [
      'in a promise',
      `Promise.resolve().then(() => { ${work} }).finally(() => { tools.sync(1); tools.echo(1) })`,
    ],
    ['in a Proxy', `new Proxy({}, { get() { try { ${work} } finally { tools.sync(1) } } }).x`],
    ['in a comparator', `try { [3, 2, 1].sort(() => { ${work} }) } finally { tools.sync(1) }`],
  ]

  it('asks the host for nothing any more, whatever it catches', async () => {
    const ends = [
      ['fuel', 'while (1);', { fuel: 3_000_000 }],
      ['memory', 'const a = []; for (;;) a.push(new Uint8Array(1e5))', { memoryBytes: 2 * MiB }],
      ['stack', '(function f() { f() })()', {}],
      ['calls', 'tools.sync(1)', { calls: 0 }],
      ['bytes', "tools.sync('x'.repeat(2e4))", { bytesOut: 10_000 }],
    ] as const
    for (const [limit, work, limits] of ends) {
      for (const [where, source] of caught(work)) {
        const outcome = await run(source, limits)
        expect([where, outcome]).toMatchObject([where, { status: 'exhausted', limit }])
        expect([limit, where, invoked]).toEqual([limit, where, []])
      }
    }
  })

  it('delivers none of the calls of the turn in which it ran out, earlier sync calls stay counted', async () => {
    for (const [limit, source, limits] of [
      ['fuel', 'tools.sync(1); tools.echo(1); tools.sync(2); while (1);', { fuel: 5_000_000 }],
      ['calls', 'tools.sync(1); tools.echo(1); tools.sync(2); tools.echo(2)', { calls: 3 }],
      [
        'bytes',
        "tools.sync(1); tools.echo(1); tools.sync(2); tools.echo('x'.repeat(2e4))",
        { bytesOut: 10_000 },
      ],
    ] as const) {
      invoked = []
      const outcome = await run(source, limits)
      expect(outcome).toMatchObject({ status: 'exhausted', limit })
      expect(invoked).toEqual(['tools.sync', 'tools.sync'])
    }
  })
})
