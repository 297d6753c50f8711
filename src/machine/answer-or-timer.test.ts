/** Guests with timers under the driver and the stepper: what wakes them, when, and at which logical time. */
import { describe, expect, it } from 'vitest'
import type { Capability } from '../capability/capability.ts'
import { checkCapability } from '../capability/define-capability.ts'
import { ManualClock, realClock, testGate } from '../capability/gate.testkit.ts'
import { type DriveOptions, driveMachine } from './driver.ts'
import type { Limits } from './limits.ts'
import type { Outcome } from './outcome.ts'
import {
  completed,
  ScriptedMachine,
  type ScriptedTurn,
  scriptedStart,
  sleeping,
  waiting,
} from './scripted-machine.testkit.ts'
import { Stepper } from './stepper.ts'
import type { TurnEnd } from './turn.ts'

/** Scripted guests begin at this logical time, and the clock of tests stands there. */
const T0 = 1_000

function tool(name: string, invoke: () => unknown): Capability {
  return checkCapability({ name, description: 'x', effect: 'read', invoke } as Capability)
}

interface Setting {
  readonly tools?: readonly Capability[]
  readonly limits?: Partial<Limits>
  readonly options?: Partial<DriveOptions>
}

function setting(guest: (turn: ScriptedTurn) => TurnEnd, { tools = [], limits, options }: Setting) {
  const { gate } = testGate(tools, undefined, { clock: realClock })
  const machine = new ScriptedMachine(guest)
  const clock = new ManualClock()
  return { machine, clock, options: { machine, gate, clock, start: scriptedStart(gate, limits), ...options } }
}

async function drive(
  guest: (turn: ScriptedTurn) => TurnEnd,
  given: Setting = {},
): Promise<{ outcome: Outcome; times: readonly number[]; machine: ScriptedMachine }> {
  const { machine, options } = setting(guest, given)
  const outcome = await driveMachine(options)
  return { outcome, times: machine.turns.map(({ nowMs }) => nowMs - T0), machine }
}

/** Sleeps so many times, so long each, and is done. */
const sleepsFor =
  (...ms: readonly number[]) =>
  ({ number, nowMs }: ScriptedTurn): TurnEnd => {
    const next = ms[number - 1]
    return next === undefined ? completed('woken') : sleeping(nowMs + next)
  }

describe('a guest that sleeps, driven', () => {
  it('is woken at the time at which its timer is due, also by a clock that stands still', async () => {
    const began = performance.now()
    const { outcome, times } = await drive(sleepsFor(20, 5))
    expect(outcome).toMatchObject({ status: 'completed', value: 'woken' })
    expect(times).toEqual([0, 20, 25])
    expect(performance.now() - began).toBeGreaterThan(20)
  })

  it('is woken at once when the time is past, at the time that is', async () => {
    const { times } = await drive(({ number }) => (number === 1 ? sleeping(T0 - 500) : completed('woken')), {
      options: { now: () => T0 + 3_600_000 },
    })
    expect(times).toEqual([0, 3_600_000])
  })

  it('is woken sooner when the clock jumps there', async () => {
    let now = T0
    setTimeout(() => {
      now = T0 + 86_400_000
    }, 5)
    const { outcome, times } = await drive(
      ({ number, call }) => {
        if (number === 1) call('a.soon')
        return number === 3 ? completed('woken') : sleeping(T0 + 3_600_000)
      },
      {
        tools: [tool('a.soon', () => new Promise((resolve) => setTimeout(resolve, 20)))],
        options: { now: () => now },
      },
    )
    expect(outcome).toMatchObject({ status: 'completed' })
    expect(times).toEqual([0, 86_400_000, 86_400_000])
  })

  it('gets an answer before its timer when that comes sooner, and both in one turn when both are there', async () => {
    const { machine } = await drive(
      ({ number, call, nowMs }) => {
        if (number === 1) call('a.fast')
        return number < 3 ? sleeping(Math.max(nowMs, T0 + 30)) : completed('done')
      },
      { tools: [tool('a.fast', async () => 'fast')] },
    )
    expect(machine.turns.map(({ answers, nowMs }) => [answers.length, nowMs - T0])).toEqual([
      [0, 0],
      [1, 0],
      [0, 30],
    ])
  })

  it('is not stalled, and is when its last timer has fired and nothing is left', async () => {
    const { outcome } = await drive(({ number, nowMs }) => (number === 1 ? sleeping(nowMs + 1) : waiting))
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'stalled' } })
  })

  it('sleeps in idle time, and for no longer than that', async () => {
    const clock = realClock
    const start = { options: { clock, now: () => T0 } }
    const { outcome } = await drive(sleepsFor(30), start)
    expect(outcome.usage.idleMs).toBeGreaterThan(20)
    const { outcome: ended } = await drive(sleepsFor(60_000), { ...start, limits: { idleMs: 20 } })
    expect(ended).toMatchObject({
      status: 'exhausted',
      limit: 'idle',
      message: expect.stringContaining('timers'),
    })
  })

  it('is active while a capability works for it, timer or not', async () => {
    const { outcome } = await drive(
      ({ number, call }) => {
        if (number === 1) call('a.never')
        return sleeping(T0 + 60_000)
      },
      {
        tools: [tool('a.never', () => new Promise(() => {}))],
        limits: { wallMs: 20 },
        options: { clock: realClock, now: () => T0 },
      },
    )
    expect(outcome).toMatchObject({ status: 'exhausted', limit: 'wall' })
  })

  it('is aborted in its sleep', async () => {
    const { outcome } = await drive(sleepsFor(3_600_000), { options: { signal: AbortSignal.timeout(10) } })
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'aborted' } })
  })

  it('gives its place away while it sleeps, and not while it also waits for a call', async () => {
    const slept: number[] = []
    let turns = 0
    await drive(
      ({ number, call, nowMs }) => {
        turns = number
        if (number === 1) call('a.slow')
        return number < 4 ? sleeping(nowMs + 5) : completed('done')
      },
      {
        tools: [tool('a.slow', () => new Promise((resolve) => setTimeout(resolve, 8)))],
        options: {
          asleep: async (sleep) => {
            slept.push(turns)
            await sleep()
          },
        },
      },
    )
    expect(slept).not.toContain(1)
    expect(slept).toContain(3)
  })

  it('is parked with its timers at a call, and says when the next is due', async () => {
    const { outcome } = await drive(
      ({ call }) => {
        call('a.fast')
        return sleeping(T0 + 500)
      },
      { tools: [tool('a.fast', async () => 1)], options: { stopAtCall: 1 } },
    )
    expect(outcome).toMatchObject({ status: 'suspended', pending: [{ id: 1 }], wakeAtMs: T0 + 500 })
  })

  it('is parked at the end of the program where that is wanted', async () => {
    const { outcome } = await drive(
      ({ number, nowMs }) => ({ status: 'waiting', wakeAtMs: nowMs + 5, ready: number === 2 }),
      { options: { suspendAtEnd: true } },
    )
    expect(outcome).toMatchObject({ status: 'suspended', pending: [], wakeAtMs: T0 + 10 })
  })

  it('ends when the machine wakes it more often than timers may be armed', async () => {
    const { outcome, machine } = await drive(({ nowMs }) => sleeping(nowMs), { limits: { timers: 50 } })
    expect(outcome).toMatchObject({ status: 'exhausted', limit: 'timers' })
    expect(machine.turns).toHaveLength(51)
  })
})

describe('a guest that sleeps, stepped', () => {
  const start = async (
    guest: (turn: ScriptedTurn) => TurnEnd,
  ): Promise<{ stepper: Stepper; machine: ScriptedMachine }> => {
    const { options, machine } = setting(guest, {})
    return { stepper: await Stepper.start(options), machine }
  }

  it('is woken by hand, at the time at which its timer is due, without a wait (invariant 5)', async () => {
    const { stepper, machine } = await start(sleepsFor(3_600_000, 1_000))
    expect(stepper.wakeAtMs).toBe(T0 + 3_600_000)
    await stepper.wake()
    expect(stepper.wakeAtMs).toBe(T0 + 3_601_000)
    await stepper.wake()
    expect(stepper.outcome).toMatchObject({ status: 'completed' })
    expect(stepper.wakeAtMs).toBeUndefined()
    expect(machine.turns.map(({ nowMs }) => nowMs - T0)).toEqual([0, 3_600_000, 3_601_000])
  })

  it('refuses to wake one that has no timer', async () => {
    const { stepper } = await start(({ number }) => (number === 1 ? sleeping(T0) : completed(1)))
    await stepper.wake()
    await expect(stepper.wake()).rejects.toMatchObject({ code: 'no_timer' })
  })

  it('sleeps by itself when it is told to finish', async () => {
    const { stepper } = await start(sleepsFor(10, 10))
    expect(await stepper.finish()).toMatchObject({ status: 'completed' })
  })
})
