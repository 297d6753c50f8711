/**
 * Attacks around `thread: 'worker'`: a guest there must end like one in the host's thread, with the same values,
 * the same refusals and the same fuel, and leave no thread behind.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CaissonError } from '../../src/base/errors.ts'
import { type Capability, capability, type Outcome, openRuntime, type Runtime } from '../../src/entry/node.ts'
import { echo, syncEcho } from '../echo-tools.ts'

const spin = (ms: number): void => {
  const end = performance.now() + ms
  while (performance.now() < end);
}

const tools: Capability[] = [
  syncEcho,
  capability({
    name: 'tools.spin',
    description: 'Blocks the host',
    effect: 'read',
    sync: true,
    invoke: (ms: unknown) => spin(ms as number),
  }),
  capability({
    name: 'tools.text',
    description: 'So many characters',
    effect: 'read',
    sync: true,
    invoke: (length: unknown) => 'x'.repeat(length as number),
  }),
  echo,
]
const grants = tools.map(({ name }) => name)

let runtime: Runtime
beforeAll(async () => {
  runtime = await openRuntime({ capabilities: tools })
})
afterAll(() => runtime.close())

const threads = (): number => readdirSync('/proc/self/task').length

/** Everything that a program can tell, with the names of errors and what their own properties are. */
function told(outcome: Outcome): unknown {
  const seen = new Map<object, number>()
  const tell = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) {
      return `${typeof value} ${Object.is(value, -0) ? '-0' : JSON.stringify(String(value))}`
    }
    const known = seen.get(value)
    if (known !== undefined) return `same as ${known}`
    seen.set(value, seen.size)
    const parts: unknown[] = [Object.prototype.toString.call(value), Object.getOwnPropertyNames(value).sort()]
    if (value instanceof Error) parts.push(value.name, value.message, value.constructor.name, value.stack)
    if (value instanceof Error && 'cause' in value) parts.push(tell(value.cause))
    if (value instanceof Map) parts.push([...value].map(tell))
    if (value instanceof Set) parts.push([...value].map(tell))
    if (value instanceof Date) parts.push(value.getTime())
    if (value instanceof RegExp) parts.push(String(value))
    if (ArrayBuffer.isView(value)) parts.push(value.byteOffset, value.byteLength, tell(value.buffer))
    else parts.push(Object.entries(value).map(([key, part]) => [key, tell(part)]))
    return parts
  }
  if (outcome.status !== 'completed') return outcome
  const { fuel, bytesIn, bytesOut, calls } = outcome.usage
  return [tell(outcome.value), fuel, bytesIn, bytesOut, calls, outcome.stateDigest]
}

describe('values of every kind', () => {
  const MAKE = `
    class Own extends Error { constructor(m, o) { super(m, o); this.name = 'Own'; this.extra = 1 } }
    const shared = { s: 1 }
    const value = { own: new Own('m', { cause: new RangeError('r', { cause: shared }) }), none: new Error(),
      agg: new AggregateError([1], 'agg'), renamed: Object.assign(new TypeError('t'), { name: 'Renamed' }),
      list: [1, , 3], named: Object.assign([1], { k: 2 }), zero: -0, day: new Date(NaN), re: /a/gy, s: '\\ud800',
      map: new Map([[shared, 1], [new Own('key'), shared]]), set: new Set([shared, 2n ** 80n]), box: Object(1n),
      bytes: new Uint8Array([1, 2]), proto: JSON.parse('{"__proto__": 1, "b": 1, "a": 2}'), shared }
    value.own.cause.cause.back = value;`

  it.each(['return value', 'return tools.sync(value)', 'return await tools.echo(value)'])(
    'are the same as in the host’s thread: %s',
    async (way) => {
      const options = { grants, seed: 3, stateDigest: true }
      const here = await runtime.run(MAKE + way, options)
      const there = await runtime.run(MAKE + way, { ...options, thread: 'worker' })
      expect(here.status).toBe('completed')
      expect(told(there)).toEqual(told(here))
    },
  )

  it('are the same as input', async () => {
    const error = Object.assign(new RangeError('m', { cause: new Error('c') }), { name: 'Renamed' })
    const input = { error, again: [error, new AggregateError([], 'agg')], b: 1, a: new Map([[1, error]]) }
    const source =
      'const { error, again, a } = input; return [error.name, again[0] === error, again[1].name, input]'
    const here = await runtime.run(source, { input, stateDigest: true })
    const there = await runtime.run(source, { input, stateDigest: true, thread: 'worker' })
    expect(here).toMatchObject({ status: 'completed', value: ['Renamed', true, 'AggregateError', {}] })
    expect(told(there)).toEqual(told(here))
  })

  it('are refused alike, and nothing of them runs', async () => {
    let ran = 0
    const count = (): number => ++ran
    const hostile: unknown[] = [
      {
        get x() {
          return count()
        },
      },
      new Proxy([], {
        ownKeys: () => {
          throw new Error('/etc/secret')
        },
      }),
      () => 1,
      Symbol('s'),
      // biome-ignore lint/suspicious/noThenProperty: a thenable is what is tried
      { then: () => 1 },
      new WeakMap(),
      new SharedArrayBuffer(8),
      'x'.repeat(2e7),
      new URL('http://localhost'),
      (function* () {
        yield 1
      })(),
    ]
    for (const input of hostile) {
      const codes = await Promise.all(
        (['host', 'worker'] as const).map((thread) =>
          runtime.run('1', { input, thread }).then(
            ({ status }) => status,
            (error: unknown) => (CaissonError.is(error) ? error.code : String(error)),
          ),
        ),
      )
      expect(codes[1]).toBe(codes[0])
      expect(['value_refused', 'value_too_large']).toContain(codes[0])
    }
    expect(ran).toBe(0)
  })
})

describe('ends', () => {
  it.each([
    ['while (1);', {}, { fuel: 3_000_000 }],
    ['const a = []; for (;;) a.push(new Uint8Array(1e5))', {}, { memoryBytes: 4 * 1024 * 1024 }],
    ['(function f() { f() })()', {}, {}],
    ['tools.sync(1); tools.sync(2); tools.sync(3)', {}, { calls: 2 }],
    ['tools.text(9e5); for (;;) tools.text(9e5)', {}, { memoryBytes: 4 * 1024 * 1024, calls: 1_000 }],
    ['throw new TypeError("m", { cause: 1 })', {}, {}],
    ['await new Promise(() => {})', {}, {}],
  ])('are the same as in the host’s thread: %s', async (source, options, limits) => {
    const here = await runtime.run(source, { grants, limits, stateDigest: true, ...options })
    const there = await runtime.run(source, {
      grants,
      limits,
      stateDigest: true,
      thread: 'worker',
      ...options,
    })
    for (const key of ['status', 'limit', 'error', 'stateDigest'] as const) {
      expect((there as Record<string, unknown>)[key]).toEqual((here as Record<string, unknown>)[key])
    }
    expect(there.usage.fuel).toBe(here.usage.fuel)
  })

  it('come in time while the guest waits for a sync call, at the deadline and when aborted', async () => {
    const late = await runtime.run('for (;;) tools.spin(30)', {
      grants,
      thread: 'worker',
      limits: { wallMs: 1_500 },
    })
    expect(late).toMatchObject({ status: 'exhausted', limit: 'wall' })
    expect(late.usage.wallMs).toBeLessThan(4_000)
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 300)
    const aborted = await runtime.run('for (;;) tools.spin(30)', {
      grants,
      thread: 'worker',
      signal: controller.signal,
    })
    expect(aborted).toMatchObject({ status: 'failed', error: { code: 'aborted' } })
  })
})

describe('threads', () => {
  it('are used again, and gone with the runtime', async () => {
    const before = threads()
    const own = await openRuntime({ keepInstances: 1 })
    for (let i = 0; i < 40; i += 1) await own.run('1 + 1', { thread: 'worker' })
    for (let i = 0; i < 3; i += 1) {
      await own.run('while (1);', { thread: 'worker', limits: { fuel: 2 ** 52, wallMs: 300 } })
    }
    expect(threads()).toBeLessThanOrEqual(before + 2)
    await own.close()
    for (let i = 0; i < 100 && threads() > before; i += 1)
      await new Promise((resolve) => setTimeout(resolve, 20))
    expect(threads()).toBeLessThanOrEqual(before)
  })

  it('keep a process alive while they owe an answer, and not afterwards', () => {
    const script = `
      import { openRuntime } from ${JSON.stringify(new URL('../../dist/src/entry/node.js', import.meta.url).href)}
      const runtime = await openRuntime({})
      const outcome = await runtime.run('6 * 7', { thread: 'worker', stateDigest: true })
      console.log(outcome.value, outcome.stateDigest !== undefined)`
    const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      timeout: 25_000,
    })
    expect([stdout, status]).toEqual(['42 true\n', 0])
  })
})
