/**
 * Attacks on the gate, from the guest (arguments, floods), from implementations (results, errors, timing) and
 * from validators. The numbers are those of the project's list of attacks.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { CaissonError } from '../../src/base/errors.ts'
import { Refusal } from '../../src/capability/call.ts'
import type { Capability, InvokeContext } from '../../src/capability/capability.ts'
import { checkCapability } from '../../src/capability/define-capability.ts'
import { MemoryLog, realClock, testGate } from '../../src/capability/gate.testkit.ts'
import { driveMachine } from '../../src/machine/driver.ts'
import {
  completed,
  ScriptedMachine,
  scriptedStart,
  waiting,
} from '../../src/machine/scripted-machine.testkit.ts'

const unhandled: unknown[] = []
const onUnhandled = (error: unknown): void => void unhandled.push(error)
let prototypes: string

function sketchPrototypes(): string {
  return [Object, Array, Promise, Map, Set, Error, Function, String]
    .map(({ prototype }) => Reflect.ownKeys(prototype).map(String).sort().join())
    .join('\n')
}

beforeEach(() => {
  prototypes = sketchPrototypes()
  process.on('unhandledRejection', onUnhandled)
})

/** After every attack: no rejection that would have killed the process, and no prototype changed. */
afterEach(async () => {
  await new Promise((resolve) => setTimeout(resolve, 5))
  process.off('unhandledRejection', onUnhandled)
  const rejections = unhandled.splice(0)
  if (rejections.length > 0) throw new Error('A rejection was left unhandled.', { cause: rejections[0] })
  if (sketchPrototypes() !== prototypes) throw new Error('A prototype of the host was changed.')
})

function tool(invoke: (input: unknown, context: InvokeContext) => unknown, more: object = {}): Capability {
  return checkCapability({ name: 'a.tool', description: 'x', effect: 'read', invoke, ...more } as Capability)
}

function codeOf({ answer }: { answer: { ok: boolean; error?: { code: string } } | object }): string {
  const { ok, error } = answer as { ok: boolean; error?: { code: string } }
  return ok ? 'ok' : String(error?.code)
}

/** Rejects with what is no error, as hostile or careless code does. */
const rejecting = (reason: unknown): Promise<never> => new Promise((_, reject) => reject(reason as Error))

const never = (): Promise<never> => new Promise(() => {})

const fail = (): never => {
  throw new Error('hunter2')
}

describe('6: a loop of cheap calls', () => {
  it('counts against the budget of the grant, awaited and sync', async () => {
    const grants = [{ capability: 'a.tool', calls: 100 }]
    const awaited = testGate([tool(() => 1)], grants)
    const codes = new Map<string, number>()
    for (let i = 0; i < 500; i++) {
      const code = codeOf(await awaited.call('a.tool'))
      codes.set(code, (codes.get(code) ?? 0) + 1)
    }
    expect([...codes]).toEqual([
      ['ok', 100],
      ['budget_exhausted', 400],
    ])
    const sync = testGate([tool(() => 1, { sync: true })], grants)
    let refused = 0
    for (let i = 0; i < 500; i++) if (sync.gate.sync.call(0, i, 8) instanceof Refusal) refused++
    expect(refused).toBe(400)
  })

  it('ends the guest at its own limit, and nothing it catches changes that', async () => {
    const { gate } = testGate([tool(() => 1)])
    const machine = new ScriptedMachine((turn) => {
      turn.call('a.tool')
      return waiting
    })
    const start = scriptedStart(gate, { calls: 50 })
    expect(await driveMachine({ machine, gate, clock: realClock, start })).toMatchObject({
      status: 'exhausted',
      limit: 'calls',
    })
  })
})

describe('8 and 13: tools that never settle, or too late', () => {
  it('a tool that never settles fails at its timeout', async () => {
    expect(codeOf(await testGate([tool(never, { timeoutMs: 5 })]).call('a.tool'))).toBe('timeout')
  })

  it('a tool that never settles under a limit of 500 ms ends the run there', async () => {
    const { gate } = testGate([tool(never)])
    const machine = new ScriptedMachine((turn) => {
      turn.call('a.tool')
      return waiting
    })
    const began = performance.now()
    const start = scriptedStart(gate, { wallMs: 500 })
    const outcome = await driveMachine({ machine, gate, clock: realClock, start })
    expect(outcome).toMatchObject({ status: 'exhausted', limit: 'wall' })
    expect(performance.now() - began).toBeGreaterThanOrEqual(499)
  })

  it('a late answer or rejection is dropped', async () => {
    let late: (fail: boolean) => void = () => {}
    const log = new MemoryLog()
    const settling = (): Promise<unknown> =>
      new Promise((resolve, reject) => {
        late = (fail) => (fail ? reject(new Error('too late')) : resolve('too late'))
      })
    for (const fail of [true, false]) {
      const { call } = testGate([tool(settling, { timeoutMs: 5 })], undefined, { callLog: log })
      expect(codeOf(await call('a.tool'))).toBe('timeout')
      late(fail)
    }
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(log.entries).toEqual(['intent 1', 'result 1 timeout', 'intent 1', 'result 1 timeout'])
  })

  it('an abort while many calls are at work drops them all', async () => {
    const { gate } = testGate([
      tool(
        (_, { signal }) =>
          new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => reject(signal.reason as Error)),
          ),
      ),
    ])
    const machine = new ScriptedMachine((turn) => {
      for (let i = 0; i < 100; i++) turn.call('a.tool')
      return waiting
    })
    const controller = new AbortController()
    const start = scriptedStart(gate)
    const running = driveMachine({ machine, gate, clock: realClock, start, signal: controller.signal })
    setTimeout(() => controller.abort(), 5)
    expect(await running).toMatchObject({ status: 'failed', error: { code: 'aborted' } })
    expect(machine.turns).toHaveLength(1)
  })
})

/* biome-ignore-start lint/suspicious/noThenProperty: what a hostile or careless implementation returns */
describe('8: thenables that go on and on', () => {
  const endless = (): object => ({
    then(resolve: (value: unknown) => void) {
      resolve(endless())
    },
  })
  const itself = (): object => ({
    then(resolve: (value: unknown) => void) {
      resolve(this)
    },
  })

  it.each([
    ['a thenable of a thenable of ...', endless],
    ['a thenable of itself', itself],
    ['a promise-like class', () => Object.assign(Object.create(Promise.prototype) as object, endless())],
  ])('%s ends at the timeout, and the host lives meanwhile', async (_, invoke) => {
    let ticks = 0
    const timer = setInterval(() => (ticks += 1), 1)
    const { call, stop } = testGate([tool(invoke, { timeoutMs: 60 })])
    expect(codeOf(await call('a.tool'))).toBe('timeout')
    clearInterval(timer)
    expect(ticks).toBeGreaterThan(2)
    expect(stop.stopped).toBe(false)
  })

  it('a validator that answers with one ends at the timeout, too', async () => {
    const schema = { '~standard': { version: 1, vendor: 'x', validate: () => endless() } }
    const late = testGate([tool(() => 1, { output: schema, timeoutMs: 30 })])
    expect(codeOf(await late.call('a.tool'))).toBe('invalid_result')
  })

  it('a sync tool that returns one is refused, and nobody asks it', () => {
    let asked = 0
    const { gate } = testGate([tool(() => ({ then: () => (asked += 1) }), { sync: true })])
    expect(gate.sync.call(0, undefined, 8)).toMatchObject({ failure: { code: 'capability_failed' } })
    expect(asked).toBe(0)
  })

  it('one that comes to a value is followed, and each is asked once', async () => {
    const asked: string[] = []
    const later = (name: string, value: unknown): object => ({
      then(resolve: (value: unknown) => void) {
        asked.push(name)
        resolve(value)
        resolve('too late')
      },
    })
    const { call } = testGate([tool(() => later('a', later('b', Promise.resolve(7))))])
    expect((await call('a.tool')).answer).toMatchObject({ ok: true, value: 7 })
    expect(asked).toEqual(['a', 'b'])
  })

  it('one whose `then` throws, now or when it is looked at again, fails', async () => {
    const broken = (): object => ({
      get then(): unknown {
        throw new Error('hunter2')
      },
    })
    const resolving = (value: unknown): object => ({
      then: (resolve: (value: unknown) => void) => resolve(value),
    })
    for (const invoke of [
      () => resolving(broken()),
      () => ({ then: () => fail() }),
      () => ({ then: async () => fail() }),
    ]) {
      expect(codeOf(await testGate([tool(invoke)]).call('a.tool'))).toBe('capability_failed')
    }
  })
})
/* biome-ignore-end lint/suspicious/noThenProperty: see above */

describe('19 and 20: errors of the host', () => {
  const path = '/home/deploy/.env: API_KEY=hunter2'
  const throwing: readonly [string, () => unknown][] = [
    ['an Error', () => Promise.reject(new Error(path))],
    ['a string', () => rejecting(path)],
    ['an error of 40 MB', () => Promise.reject(new Error(path.repeat(1_200_000)))],
    [
      'an error with a hostile message',
      () => Promise.reject(Object.defineProperty(new Error(), 'message', { get: never })),
    ],
    [
      'an error whose getters throw',
      () =>
        Promise.reject(
          new Proxy(new Error(path), {
            get() {
              throw new Error(path)
            },
            getPrototypeOf() {
              throw new Error(path)
            },
          }),
        ),
    ],
    ['null', () => rejecting(null)],
    [
      'a thenable that calls back twice and throws',
      () => ({
        // biome-ignore lint/suspicious/noThenProperty: what a hostile implementation would do
        then(_: unknown, reject: (error: unknown) => void) {
          reject(path)
          reject(path)
          throw new Error(path)
        },
      }),
    ],
    ['an AbortError', () => Promise.reject(new DOMException(path, 'AbortError'))],
  ]

  it.each(throwing)('%s shows a guest neither path nor secret nor frame', async (_, invoke) => {
    for (const expose of [undefined, ['not_found']]) {
      const delivery = await testGate([tool(invoke, expose && { expose })]).call('a.tool')
      expect(codeOf(delivery)).toBe('capability_failed')
      const shown = JSON.stringify(delivery)
      expect(shown).not.toMatch(/hunter2|deploy|at .*\.ts/)
      expect(shown.length).toBeLessThan(500)
    }
  })

  it('an exposed error is bounded, and its details are plain', async () => {
    const huge = new CaissonError('not_found', 'm'.repeat(4e7), {
      details: {
        text: 'd'.repeat(1e7),
        nested: { secret: 1 },
        list: [1],
        ...Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`k${i}`, 'v'.repeat(1_000)])),
      },
    })
    const { answer } = await testGate([tool(() => Promise.reject(huge), { expose: ['not_found'] })]).call(
      'a.tool',
    )
    expect(JSON.stringify(answer).length).toBeLessThan(4_096)
    expect(JSON.stringify(answer)).not.toContain('secret')
  })

  it('an error as a result brings no frames of the host', async () => {
    const { answer } = await testGate([tool(() => ({ error: new TypeError('no') }))]).call('a.tool')
    const { error } = (answer as { value: { error: Error } }).value
    expect(error.message).toBe('no')
    expect(error.stack).not.toMatch(/gate\.test|at /)
  })

  it('a hostile `expose` exposes nothing', async () => {
    for (const expose of [
      () => {
        throw new Error(path)
      },
      () => ({ code: 'x', message: path }),
      () => new Error(path),
    ]) {
      const delivery = await testGate([tool(() => Promise.reject(new Error('x')), { expose })]).call('a.tool')
      expect(JSON.stringify(delivery)).not.toContain('hunter2')
    }
  })
})

describe('18 and 22: names and keys that mean something to the language', () => {
  it('arrive as data', async () => {
    const args = JSON.parse('{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}')
    let seen: unknown
    const log = new MemoryLog()
    const { call } = testGate(
      [
        tool((input) => {
          seen = input
          return input
        }),
      ],
      undefined,
      { callLog: log },
    )
    const { answer } = await call('a.tool', args)
    for (const value of [seen, (answer as { value: unknown }).value, log.intents[0]?.args]) {
      expect(Object.getOwnPropertyNames(value)).toEqual(['__proto__', 'constructor'])
      expect((value as { polluted?: unknown }).polluted).toBeUndefined()
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })
})

describe('24: a revoked capability that the guest kept', () => {
  it('is refused, awaited and sync, also when the right is looked up elsewhere', async () => {
    let gone = false
    const test = testGate([tool(() => 1, { sync: true })], [{ capability: 'a.tool', revoked: () => gone }])
    expect(test.gate.sync.call(0, 1, 8)).toBe(1)
    expect(codeOf(await test.call('a.tool'))).toBe('ok')
    gone = true
    expect(test.gate.sync.call(0, 1, 8)).toMatchObject({ failure: { code: 'revoked' } })
    expect(codeOf(await test.call('a.tool'))).toBe('revoked')
  })
})

describe('55: a value that is small as a graph and exponential as a tree', () => {
  /** 2^60 nodes as a tree, 60 as a graph. */
  function bomb(): unknown {
    let value: unknown = { leaf: 1 }
    for (let i = 0; i < 60; i++) value = { a: value, b: value }
    return value
  }
  type Tree = { a: Tree; b: Tree } | { leaf: number }
  const tree: z.ZodType<Tree> = z.lazy(() =>
    z.union([z.object({ a: tree, b: tree }), z.object({ leaf: z.number() })]),
  )

  it('never reaches a validator that would walk it as a tree', async () => {
    expect(codeOf(await testGate([tool(() => 1, { input: tree })]).call('a.tool', bomb()))).toBe(
      'value_too_large',
    )
    expect(codeOf(await testGate([tool(bomb, { output: tree })]).call('a.tool'))).toBe('result_too_large')
    const sync = testGate([tool(() => 1, { input: tree, sync: true })])
    expect(sync.gate.sync.call(0, bomb(), 8)).toMatchObject({ failure: { code: 'value_too_large' } })
  })

  it('passes as a graph where no validator is', async () => {
    const { answer } = await testGate([tool((input) => input)]).call('a.tool', bomb())
    const { value } = answer as unknown as { value: { a: unknown; b: unknown } }
    expect(value.a).toBe(value.b)
  })

  it('that is a cycle ends a validator that follows it for ever, and only that', async () => {
    const cycle: { a?: unknown; b?: unknown } = {}
    cycle.a = cycle
    cycle.b = cycle
    const walk = (value: unknown): number =>
      Object.values(value as object).reduce((sum, part) => sum + walk(part), 0)
    const naive = {
      '~standard': { version: 1, vendor: 'naive', validate: (value: unknown) => ({ value: walk(value) }) },
    }
    expect(codeOf(await testGate([tool(() => 1, { input: naive })]).call('a.tool', cycle))).toBe(
      'invalid_arguments',
    )
    expect(codeOf(await testGate([tool(() => 1, { input: tree })]).call('a.tool', cycle))).toMatch(
      /^(ok|invalid)/,
    )
  })
})

describe('57: a host callback that throws in the middle of a sync call', () => {
  it('is contained: a refusal comes back, and the next call works', () => {
    let fail = true
    const { gate } = testGate([
      tool(
        () => {
          if (fail) throw new RangeError('Maximum call stack size exceeded')
          return 'fine'
        },
        { sync: true },
      ),
    ])
    expect(gate.sync.call(0, undefined, 0)).toBeInstanceOf(Refusal)
    fail = false
    expect(gate.sync.call(0, undefined, 0)).toBe('fine')
  })
})

describe('58: what changes arguments after they were checked', () => {
  it('an implementation that changes its Date, Map and bytes changes only its own', async () => {
    const log = new MemoryLog()
    const args = { at: new Date(5), map: new Map([['k', 1]]), bytes: new Uint8Array([1, 2]) }
    const { call } = testGate(
      [
        tool((input) => {
          const own = input as typeof args
          own.at.setTime(0)
          own.map.clear()
          own.bytes.fill(9)
          return null
        }),
      ],
      [
        {
          capability: 'a.tool',
          constrain: (input) => {
            ;(input as typeof args).map.set('forged', 1)
            ;(input as typeof args).at.setTime(1)
            return true
          },
        },
      ],
      { callLog: log },
    )
    await call('a.tool', args)
    const expected = { at: new Date(5), map: new Map([['k', 1]]), bytes: new Uint8Array([1, 2]) }
    expect(log.intents[0]?.args).toEqual(expected)
    expect(args).toEqual(expected)
  })

  it('a constraint judges the value after defaults and transforms, not before', async () => {
    const input = z
      .object({ path: z.string().default('/etc/passwd') })
      .transform(({ path }) => ({ path: path.trim() }))
    const { call } = testGate(
      [tool(() => 'read', { input })],
      [
        {
          capability: 'a.tool',
          constrain: (args) => (args as { path: string }).path.startsWith('/data/') || 'no',
        },
      ],
    )
    expect(codeOf(await call('a.tool', {}))).toBe('denied')
    expect(codeOf(await call('a.tool', { path: ' /data/x' }))).toBe('ok')
  })
})

describe('61: validation errors that grow beyond the value', () => {
  it('stay small in the answer, whatever the validator made of them', async () => {
    const wrong = Array.from({ length: 50_000 }, () => 'x')
    const zod = await testGate([tool(() => 1, { input: z.array(z.number()) })]).call('a.tool', wrong)
    expect(zod.answer).toMatchObject({ error: { message: expect.stringContaining('and 49992 more') } })
    expect(JSON.stringify(zod.answer).length).toBeLessThan(4_096)
  })

  it('are not asked for at all over too many nodes', async () => {
    const wrong = new Array(200_000).fill('x')
    const refused = await testGate([tool(() => 1, { input: z.array(z.number()) })]).call('a.tool', wrong)
    expect(codeOf(refused)).toBe('value_too_large')
  })

  const hostileIssues: readonly unknown[] = [
    Array.from({ length: 1_000_000 }, () => ({ message: 'm' })),
    [{ message: 'm'.repeat(1e7), path: ['p'.repeat(1e7)] }],
    [{ message: 'm', path: new Array(1_000_000).fill('p') }],
    [
      {
        get message(): never {
          throw new Error('getter')
        },
      },
    ],
    [null, 5, 'x', { path: [{ key: Symbol('s') }] }],
    'not a list',
    new Proxy([], {
      get() {
        throw new Error('trap')
      },
    }),
  ]
  it.each(hostileIssues.map((issues, i) => [i, issues] as const))(
    'of kind %i are contained',
    async (_, issues) => {
      const input = { '~standard': { version: 1, vendor: 'hostile', validate: () => ({ issues }) } }
      const refused = await testGate([tool(() => 1, { input })]).call('a.tool', 1)
      expect(codeOf(refused)).toBe('invalid_arguments')
      expect(JSON.stringify(refused).length).toBeLessThan(4_096)
    },
  )

  const hostileSchemas: readonly (() => unknown)[] = [
    () => {
      throw new Error('x')
    },
    () => undefined,
    () => 'valid',
    () => ({}),
    () => Promise.reject(new Error('x')),
    () => Promise.resolve(undefined),
    () => ({
      get value(): never {
        throw new Error('x')
      },
    }),
  ]
  it.each(hostileSchemas.map((validate, i) => [i, validate] as const))(
    'a schema of kind %i lets nothing through',
    async (_, validate) => {
      let invoked = false
      const input = { '~standard': { version: 1, vendor: 'hostile', validate } }
      const { call } = testGate([
        tool(
          () => {
            invoked = true
          },
          { input },
        ),
      ])
      expect(codeOf(await call('a.tool', 1))).toBe('invalid_arguments')
      expect(invoked).toBe(false)
    },
  )
})

describe('66: results that would burn the guest', () => {
  const endless = (): object =>
    new Proxy(
      {},
      {
        ownKeys: () => ['a'],
        getOwnPropertyDescriptor: () => ({ value: endless(), enumerable: true, configurable: true }),
        get: () => endless(),
      },
    )
  const results: readonly [string, () => unknown, string][] = [
    ['a string of 50 MB', () => 'x'.repeat(5e7), 'result_too_large'],
    ['an array of two million', () => new Array(2_000_000).fill(0), 'result_too_large'],
    ['a sparse array of length 2^32-1', () => new Array(2 ** 32 - 1), 'result_too_large'],
    ['20,000 levels', () => Array.from({ length: 20_000 }).reduce((inner) => [inner], 0), 'value_too_deep'],
    ['a bigint of a million digits', () => 10n ** 1_000_000n, 'ok'],
    ['a function', () => () => 1, 'value_refused'],
    ['a promise inside', () => ({ later: Promise.resolve(1) }), 'value_refused'],
    ['a response', () => new Response('x'), 'value_refused'],
    ['a shared buffer', () => new Uint8Array(new SharedArrayBuffer(8)), 'value_refused'],
    ['an endless proxy', endless, 'value_too_deep'],
    [
      'a proxy whose traps throw',
      () =>
        new Proxy(
          {},
          {
            ownKeys() {
              throw new Error('trap')
            },
          },
        ),
      'value_refused',
    ],
  ]

  it.each(results)('%s is stopped before delivery, or whole', async (_, invoke, code) => {
    const delivery = await testGate([tool(async () => ({ result: invoke() }))]).call('a.tool')
    expect(codeOf(delivery)).toBe(code)
  })

  it('the bytes that a guest may receive in all hold over many results', async () => {
    const { gate } = testGate([tool(() => 'x'.repeat(100_000))])
    const machine = new ScriptedMachine((turn) => {
      if (turn.number === 1_000) return completed('got away')
      turn.call('a.tool')
      return waiting
    })
    const start = scriptedStart(gate, { bytesIn: 1_000_000 })
    expect(await driveMachine({ machine, gate, clock: realClock, start })).toMatchObject({
      status: 'exhausted',
      limit: 'bytes',
    })
    expect(machine.turns).toHaveLength(11)
  })
})
