/** Programs with timers, as people write them, run to their ends. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { capability, openRuntime, type Runtime } from '../../src/entry/node.ts'
import { echo } from '../echo-tools.ts'

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const slow = capability({
  name: 'tools.slow',
  description: 'Settles after some milliseconds',
  effect: 'read',
  invoke: async (ms: unknown) => {
    await wait(ms as number)
    return 'slow'
  },
})
const grants = ['tools.echo', 'tools.slow']

let runtime: Runtime
beforeAll(async () => {
  runtime = await openRuntime({ capabilities: [echo, slow] })
})
afterAll(() => runtime.close())

describe.each(['host', 'worker'] as const)('a program with timers, in thread %s', (thread) => {
  const run = (source: string, options: object = {}) => runtime.run(source, { grants, thread, ...options })

  it('sleeps for as long as it says', async () => {
    const outcome = await run(`
      const before = Date.now()
      await new Promise((resolve) => setTimeout(resolve, 30))
      return Date.now() - before`)
    expect(outcome).toMatchObject({ status: 'completed', value: expect.any(Number) })
    expect(outcome.status === 'completed' && outcome.value).toBeGreaterThanOrEqual(30)
  })

  it('is not over while a timer is pending, and its value is what it holds then', async () => {
    const outcome = await run(`const seen = []; setTimeout(() => seen.push('fired')); seen`)
    expect(outcome).toMatchObject({ status: 'completed', value: ['fired'] })
  })

  it('is over at once where that is wanted, and says what it left', async () => {
    const outcome = await run(`setTimeout(() => {}, 3_600_000); tools.slow(3_600_000); 'value'`, {
      atEnd: 'drop',
    })
    expect(outcome).toMatchObject({
      status: 'completed',
      value: 'value',
      left: { calls: [{ id: 1, capability: 'tools.slow' }], timers: 1 },
    })
  })

  it('survives a throw inside a timer, which is reported once with its place', async () => {
    const outcome = await run(
      `setTimeout(() => {\n  undefined.x\n})\nawait new Promise((r) => setTimeout(r, 5)); 'on'`,
    )
    expect(outcome).toMatchObject({
      status: 'completed',
      value: 'on',
      unhandledRejections: [{ name: 'TypeError', position: { line: 2 } }],
    })
    expect(outcome.unhandledRejections).toHaveLength(1)
  })

  it('races a call against a timer, either way', async () => {
    const race = (callMs: number, timerMs: number) =>
      run(
        `Promise.race([tools.slow(${callMs}), new Promise((resolve) => setTimeout(resolve, ${timerMs}, 'timer'))])`,
        { atEnd: 'drop' },
      )
    expect(await race(1, 60_000)).toMatchObject({ status: 'completed', value: 'slow', left: { timers: 1 } })
    expect(await race(60_000, 1)).toMatchObject({ status: 'completed', value: 'timer', left: { timers: 0 } })
  })

  it('is ended by the limit that it reaches: idle time, or timers', async () => {
    const asleep = await run('await new Promise((resolve) => setTimeout(resolve, 3_600_000))', {
      limits: { idleMs: 20 },
    })
    expect(asleep).toMatchObject({ status: 'exhausted', limit: 'idle' })
    const beating = await run('setInterval(() => {}, 1)', { limits: { timers: 5 } })
    expect(beating).toMatchObject({ status: 'exhausted', limit: 'timers' })
  })

  it('is aborted in its sleep', async () => {
    const outcome = await run('await new Promise((resolve) => setTimeout(resolve, 3_600_000))', {
      signal: AbortSignal.timeout(20),
    })
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'aborted' } })
  })
})

describe('a sleeping guest among others', () => {
  it('keeps nobody waiting for its place', async () => {
    const narrow = await openRuntime({ capabilities: [echo], concurrency: 1 })
    try {
      const stop = new AbortController()
      const sleeper = narrow.run('await new Promise((resolve) => setTimeout(resolve, 3_600_000))', {
        signal: stop.signal,
      })
      const other = await narrow.run('await tools.echo(2)', { grants: ['tools.echo'] })
      expect(other).toMatchObject({ status: 'completed', value: 2 })
      stop.abort()
      expect(await sleeper).toMatchObject({ status: 'failed', error: { code: 'aborted' } })
    } finally {
      await narrow.close()
    }
  })

  it('lives on few instances with many others, each woken in its time', async () => {
    const few = await openRuntime({ instances: 2 })
    try {
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          few.run(
            `let n = 0; for (let i = 0; i < 3; i++) { await new Promise((r) => setTimeout(r, ${1 + (i % 5)})); n += 1 } n`,
          ),
        ),
      )
      expect(outcomes.every((outcome) => outcome.status === 'completed' && outcome.value === 3)).toBe(true)
    } finally {
      await few.close()
    }
  })
})
