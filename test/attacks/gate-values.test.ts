/**
 * Attacks on the gate by what is passed, validated and answered: from guests, implementations and validators. The
 * numbers are those of the project's list of attacks.
 */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { codeOf, MemoryLog, realClock, testGate, tool } from '../../src/capability/gate.testkit.ts'
import { driveMachine } from '../../src/machine/driver.ts'
import {
  completed,
  ScriptedMachine,
  scriptedStart,
  waiting,
} from '../../src/machine/scripted-machine.testkit.ts'
import { watchHost } from './watch-host.ts'

watchHost()

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
