import { afterEach, describe, expect, it, vi } from 'vitest'
import { CaissonError } from '../base/errors.ts'
import type { Capability } from '../capability/capability.ts'
import { checkCapability } from '../capability/define-capability.ts'
import { ManualClock, MemoryLog, realClock, type TestGate, testGate } from '../capability/gate.testkit.ts'
import type { GateOptions } from '../capability/gate.ts'
import type { Grant } from '../capability/grant.ts'
import { type DriveOptions, driveMachine } from './driver.ts'
import type { Limits } from './limits.ts'
import type { Outcome } from './outcome.ts'
import {
  completed,
  ScriptedMachine,
  type ScriptedTurn,
  scriptedStart,
  waiting,
} from './scripted-machine.testkit.ts'
import type { TurnEnd } from './turn.ts'

function tool(name: string, invoke: (input: unknown) => unknown, more: object = {}): Capability {
  return checkCapability({ name, description: 'x', effect: 'read', invoke, ...more } as Capability)
}

interface Drive {
  readonly tools?: readonly Capability[]
  readonly grants?: readonly Grant[]
  readonly limits?: Partial<Limits>
  readonly gate?: Partial<GateOptions>
  readonly options?: Partial<DriveOptions>
}

function drive(
  guest: (turn: ScriptedTurn) => TurnEnd,
  { tools = [], grants, limits, gate: gateOptions, options }: Drive = {},
): TestGate & { machine: ScriptedMachine; run: () => Promise<Outcome> } {
  const test = testGate(tools, grants, { clock: realClock, ...gateOptions })
  const machine = new ScriptedMachine(guest)
  const run = (): Promise<Outcome> =>
    driveMachine({
      machine,
      gate: test.gate,
      clock: realClock,
      start: scriptedStart(test.gate, limits),
      ...options,
    })
  return { ...test, machine, run }
}

const never = (): Promise<never> => new Promise(() => {})
const afterMs = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

describe('driveMachine', () => {
  it('runs a guest without calls in one turn', async () => {
    const { run, machine } = drive((turn) => {
      turn.log('hello')
      turn.usage({ fuel: 12 })
      return completed(42)
    })
    expect(await run()).toMatchObject({
      status: 'completed',
      value: 42,
      logs: [{ text: 'hello' }],
      usage: { fuel: 12, idleMs: 0, logsDropped: 0 },
      unhandledRejections: [],
    })
    expect(machine.turns).toHaveLength(1)
    expect(machine.disposed).toBe(false)
  })

  it('answers calls until the guest completes', async () => {
    const { run } = drive(
      (turn) => {
        if (turn.number <= 5) {
          turn.call('a.double', turn.number)
          return waiting
        }
        return completed(turn.answers)
      },
      { tools: [tool('a.double', async (n) => (n as number) * 2)] },
    )
    expect(await run()).toMatchObject({ status: 'completed', value: [{ id: 5, ok: true, value: 10 }] })
  })

  it('starts calls in order, at most concurrentCalls at once (invariant 1)', async () => {
    let working = 0
    let most = 0
    const started: unknown[] = []
    const { run } = drive(
      (turn) => {
        if (turn.number === 1) for (let i = 0; i < 10; i++) turn.call('a.work', i)
        return started.length === 10 && turn.answers.some(({ id }) => id === 10) ? completed('done') : waiting
      },
      {
        limits: { concurrentCalls: 3 },
        tools: [
          tool('a.work', async (n) => {
            started.push(n)
            most = Math.max(most, ++working)
            await afterMs(1)
            working -= 1
          }),
        ],
      },
    )
    expect(await run()).toMatchObject({ status: 'completed' })
    expect(most).toBe(3)
    expect(started).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  it('delivers what has arrived in one turn, in order of arrival (invariant 2)', async () => {
    const release: (() => void)[] = []
    const { run, machine } = drive(
      (turn) => {
        if (turn.number === 1) for (let i = 0; i < 3; i++) turn.call('a.wait', i)
        return machine.pending.length === 0 && turn.number > 1 ? completed('all') : waiting
      },
      {
        tools: [tool('a.wait', (i) => new Promise<void>((resolve) => (release[i as number] = resolve)))],
      },
    )
    const running = run()
    await afterMs(5)
    release[2]?.()
    await afterMs(5)
    release[1]?.()
    release[0]?.()
    expect(await running).toMatchObject({ status: 'completed' })
    const delivered = machine.turns.flatMap(({ answers }) => answers.map(({ id }) => id))
    expect(delivered).toEqual([3, 2, 1])
  })

  it('ends a guest that waits for nothing as stalled (invariant 4)', async () => {
    expect(await drive(() => waiting).run()).toMatchObject({
      status: 'failed',
      error: { code: 'stalled', message: expect.stringContaining('no call is pending') },
    })
  })

  it('passes a failure of the guest, and a limit that the machine reached, through', async () => {
    const error = { name: 'TypeError', message: 'x is not a function' }
    expect(await drive(() => ({ status: 'failed', error })).run()).toMatchObject({ status: 'failed', error })
    const exhausted = { status: 'exhausted', limit: 'fuel', message: 'out of fuel' } as const
    expect(await drive(() => exhausted).run()).toMatchObject(exhausted)
  })

  it('moves logical time forward only', async () => {
    const times = [5_000, 4_000, 6_000]
    const { run, machine } = drive(
      (turn) => {
        if (turn.number > 3) return completed(1)
        turn.call('a.b')
        return waiting
      },
      { tools: [tool('a.b', () => 1)], options: { now: () => times.shift() ?? 0 } },
    )
    await run()
    expect(machine.turns.map(({ nowMs }) => nowMs)).toEqual([1_000, 5_000, 5_000, 6_000])
  })

  it('keeps logs up to their bytes and counts the others', async () => {
    const outcome = await drive(
      (turn) => {
        for (let i = 0; i < 100_000; i++) turn.log('x'.repeat(84))
        turn.usage({ logsDropped: 5 })
        return completed(1)
      },
      { limits: { logBytes: 1_000 } },
    ).run()
    expect(outcome.logs).toHaveLength(10)
    expect(outcome.usage.logsDropped).toBe(99_990 + 5)
  })
})

describe('limits', () => {
  const asking = (turn: ScriptedTurn): TurnEnd => {
    turn.call('a.tool', undefined, 10)
    return waiting
  }

  it('end a guest that asks for more calls than it may, and deliver none of that turn', async () => {
    const invoke = vi.fn(() => 1)
    const tools = [tool('a.tool', invoke)]
    expect(await drive(asking, { tools, limits: { calls: 3 } }).run()).toMatchObject({
      status: 'exhausted',
      limit: 'calls',
    })
    expect(invoke).toHaveBeenCalledTimes(3)
    invoke.mockClear()
    const flood = (turn: ScriptedTurn): TurnEnd => {
      for (let i = 0; i < 5; i++) turn.call('a.tool')
      return waiting
    }
    expect(await drive(flood, { tools, limits: { calls: 3 } }).run()).toMatchObject({ limit: 'calls' })
    expect(invoke).not.toHaveBeenCalled()
    const sync = (turn: ScriptedTurn): TurnEnd => {
      turn.usage({ calls: 4 })
      return completed(1)
    }
    expect(await drive(sync, { limits: { calls: 3 } }).run()).toMatchObject({
      status: 'exhausted',
      limit: 'calls',
    })
  })

  it('end a guest that sends or receives too many bytes', async () => {
    const tools = [tool('a.tool', () => 'x'.repeat(400))]
    const out = await drive(asking, { tools, limits: { bytesOut: 25 } }).run()
    expect(out).toMatchObject({
      status: 'exhausted',
      limit: 'bytes',
      message: expect.stringContaining('bytesOut'),
    })
    const incoming = drive(asking, { tools, limits: { bytesIn: 1_000 } })
    expect(await incoming.run()).toMatchObject({
      limit: 'bytes',
      message: expect.stringContaining('bytesIn'),
    })
    expect(incoming.machine.turns).toHaveLength(3)
  })

  it('end a guest whose tool never settles at its wall time; the call is told, the late answer dropped', async () => {
    let signal: AbortSignal | undefined
    let late: (value: unknown) => void = () => {}
    const { run, machine } = drive(asking, {
      limits: { wallMs: 30 },
      tools: [
        checkCapability({
          name: 'a.tool',
          description: 'x',
          effect: 'read',
          invoke: (_, context) => {
            signal = context.signal
            return new Promise((resolve) => (late = resolve))
          },
        }),
      ],
    })
    expect(await run()).toMatchObject({ status: 'exhausted', limit: 'wall' })
    expect(signal?.aborted).toBe(true)
    late(1)
    await afterMs(5)
    expect(machine.turns).toHaveLength(1)
  })

  it('let the guest see the timeout of a call when that comes first', async () => {
    const { run } = drive((turn) => (turn.number === 1 ? asking(turn) : completed(turn.answers[0])), {
      tools: [tool('a.tool', never, { timeoutMs: 5 })],
    })
    expect(await run()).toMatchObject({ value: { ok: false, error: { code: 'timeout' } } })
  })

  it('of wall time hold for calls that are answered at once, and the host gets its turn (invariant 5)', async () => {
    let ticks = 0
    const timer = setInterval(() => (ticks += 1), 1)
    const { run } = drive(asking, {
      tools: [tool('a.tool', async () => 1)],
      limits: { wallMs: 150, calls: 2 ** 31, bytesIn: 2 ** 31, bytesOut: 2 ** 31 },
    })
    expect(await run()).toMatchObject({ status: 'exhausted', limit: 'wall' })
    clearInterval(timer)
    expect(ticks).toBeGreaterThan(0)
  })

  it('tell the machine its deadline and when to stop', async () => {
    const controller = new AbortController()
    const { run, machine } = drive(
      ({ control }) => {
        expect(control.deadline).toBeLessThanOrEqual(realClock.monotonic() + 1_000)
        expect(control.aborted?.()).toBe(false)
        controller.abort()
        expect(control.aborted?.()).toBe(true)
        return { status: 'exhausted', limit: 'wall', message: 'stopped' }
      },
      { limits: { wallMs: 1_000 }, options: { signal: controller.signal } },
    )
    expect(await run()).toMatchObject({ status: 'failed', error: { code: 'aborted', name: 'AbortError' } })
    expect(machine.turns).toHaveLength(1)
  })

  it('count waiting for people apart from wall time', async () => {
    const clock = new ManualClock()
    const { run } = drive((turn) => (turn.number === 1 ? asking(turn) : completed('ok')), {
      tools: [tool('a.tool', () => 1)],
      grants: [{ capability: 'a.tool', approve: true }],
      limits: { wallMs: 40, idleMs: 10_000 },
      options: { clock },
      gate: {
        digest: () => 'd',
        approver: {
          approve: async ({ digest }) => {
            clock.ms += 5_000
            return { decision: 'approved', digest }
          },
        },
      },
    })
    expect(await run()).toMatchObject({ status: 'completed', usage: { wallMs: 0, idleMs: 5_000 } })
  })

  it('end a guest for which people take too long', async () => {
    const { run } = drive(asking, {
      tools: [tool('a.tool', () => 1)],
      grants: [{ capability: 'a.tool', approve: true }],
      limits: { idleMs: 20 },
      gate: { digest: () => 'd', approver: { approve: never } },
    })
    expect(await run()).toMatchObject({ status: 'exhausted', limit: 'idle' })
  })
})

describe('ends from outside', () => {
  const waitingForever: Drive = { tools: [tool('a.tool', never)] }
  const asking = (turn: ScriptedTurn): TurnEnd => {
    turn.call('a.tool')
    return waiting
  }

  it('an abort while calls are at work fails the run as aborted', async () => {
    const controller = new AbortController()
    const { run } = drive(asking, { ...waitingForever, options: { signal: controller.signal } })
    const running = run()
    await afterMs(2)
    controller.abort()
    expect(await running).toMatchObject({ status: 'failed', error: { code: 'aborted' } })
  })

  it('an abort before the start starts nothing', async () => {
    const { run, machine } = drive(asking, { ...waitingForever, options: { signal: AbortSignal.abort() } })
    expect(await run()).toMatchObject({ status: 'failed', error: { code: 'aborted' } })
    expect(machine.turns).toHaveLength(0)
  })

  it('stopAtCall parks the guest before that call is invoked, with the answers that still came', async () => {
    const invoked: unknown[] = []
    const { run, machine } = drive(
      (turn) => {
        if (turn.number === 1) {
          turn.call('a.slow', 1)
          turn.call('a.fast', 2)
        } else {
          turn.call('a.fast', 3)
          turn.call('a.fast', 4)
        }
        return waiting
      },
      {
        options: { stopAtCall: 4 },
        tools: [
          tool('a.slow', async (n) => {
            invoked.push(n)
            await afterMs(10)
            return 'slow'
          }),
          tool('a.fast', (n) => invoked.push(n)),
        ],
      },
    )
    expect(await run()).toMatchObject({
      status: 'suspended',
      pending: [{ id: 1 }, { id: 3 }, { id: 4 }],
      answered: [{ id: 1, ok: true, value: 'slow' }],
    })
    expect(invoked).toEqual([1, 2])
    expect(machine.disposed).toBe(false)
  })

  it('a call that cannot be recorded ends the run', async () => {
    const callLog = { intent: () => Promise.reject(new Error('disk full')), result: () => {} }
    const { run } = drive(asking, { ...waitingForever, gate: { callLog } })
    expect(await run()).toMatchObject({ status: 'failed', error: { code: 'not_recorded' } })
  })

  it('sync calls are recorded before the calls of their turn are invoked, or the run ends', async () => {
    const log = new MemoryLog()
    const tools = [tool('a.now', () => 5, { sync: true }), tool('a.tool', () => 1)]
    const test = drive(
      (turn) => {
        test.gate.sync.call(0, undefined, 0)
        if (turn.number === 2) return completed(1)
        turn.call('a.tool')
        return waiting
      },
      { tools, gate: { callLog: log }, options: { callLog: log } },
    )
    expect(await test.run()).toMatchObject({ status: 'completed' })
    expect(log.entries).toEqual(['sync 1', 'intent 1', 'result 1 ok', 'sync 1'])

    const broken = {
      intent: vi.fn(),
      result: () => {},
      syncCalls: () => Promise.reject(new Error('disk full')),
    }
    const failing = drive(
      (turn) => {
        failing.gate.sync.call(0, undefined, 0)
        turn.call('a.tool')
        return waiting
      },
      { tools, gate: { callLog: broken }, options: { callLog: broken } },
    )
    expect(await failing.run()).toMatchObject({ status: 'failed', error: { code: 'not_recorded' } })
    expect(broken.intent).not.toHaveBeenCalled()
  })
})

describe('machines that fail', () => {
  afterEach(() => vi.useRealTimers())

  it('by a destroyed isolate end the guest; by the host’s fault they throw', async () => {
    const throwing = (error: unknown) =>
      drive(() => {
        throw error
      }).run()
    expect(await throwing(new CaissonError('isolate_destroyed', 'trapped'))).toMatchObject({
      status: 'failed',
      error: { code: 'isolate_destroyed' },
    })
    expect(await throwing(new RangeError('in wasm at /secret/path'))).toMatchObject({
      status: 'failed',
      error: { code: 'isolate_destroyed', message: expect.not.stringContaining('secret') },
    })
    await expect(throwing(new CaissonError('native_stack_low', 'x'))).rejects.toMatchObject({
      code: 'native_stack_low',
    })
  })

  it('by using an id twice are not believed', async () => {
    const machine = new ScriptedMachine(() => waiting)
    const { gate } = testGate([tool('a.tool', () => 1)])
    const call = { id: 1, capability: 'a.tool', args: 1, bytes: 8, askedAtMs: 0 }
    const usage = { fuel: 0, memoryBytes: 0, calls: 0, bytesIn: 0, bytesOut: 0, logsDropped: 0 }
    machine.start = () =>
      ({ ...waiting, calls: [call, call], logs: [], unhandledRejections: [], usage }) as never
    expect(await driveMachine({ machine, gate, clock: realClock, start: scriptedStart(gate) })).toMatchObject(
      {
        status: 'failed',
        error: { code: 'corrupted' },
      },
    )
  })

  it('elsewhere answer with promises, and are given up when they hang', async () => {
    const elsewhere = drive(
      (turn) => {
        if (turn.number > 1) return completed('far')
        turn.call('a.tool')
        return waiting
      },
      {
        tools: [tool('a.tool', () => 1)],
      },
    )
    elsewhere.machine.asynchronous = true
    expect(await elsewhere.run()).toMatchObject({ status: 'completed', value: 'far' })

    const hanging = drive(() => waiting, { limits: { wallMs: 20 } })
    hanging.machine.start = () => never()
    expect(await hanging.run()).toMatchObject({ status: 'exhausted', limit: 'wall' })
  })
})
