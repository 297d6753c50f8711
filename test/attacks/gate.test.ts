/**
 * Attacks on the gate, from guests (floods) and from implementations (errors, timing). Those by what is passed and
 * answered are in gate-values.test.ts. The numbers are those of the project's list of attacks.
 */
import { describe, expect, it } from 'vitest'
import { CaissonError } from '../../src/base/errors.ts'
import { Refusal } from '../../src/capability/call.ts'
import { codeOf, MemoryLog, realClock, testGate, tool } from '../../src/capability/gate.testkit.ts'
import { driveMachine } from '../../src/machine/driver.ts'
import { ScriptedMachine, scriptedStart, waiting } from '../../src/machine/scripted-machine.testkit.ts'
import { watchHost } from './watch-host.ts'

watchHost()

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
