/**
 * Attacks on the life of a guest: ended from every place and at every moment, with calls in flight. Whatever
 * happens, its place and its memory come back, late answers are dropped and the next guest runs.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Capability, capability, type Guest, openRuntime, type Runtime } from '../../src/entry/node.ts'

/** What the capabilities do in the test that runs. */
let inSync: () => void = () => {}
let inAwaited: () => void | Promise<void> = () => {}

const tools: Capability[] = [
  capability({
    name: 'tools.sync',
    description: 'Inside the turn',
    effect: 'read',
    sync: true,
    invoke: () => {
      inSync()
      return 1
    },
  }),
  capability({
    name: 'tools.echo',
    description: 'Gives back what it gets',
    effect: 'read',
    invoke: async (value: unknown) => {
      await inAwaited()
      return value
    },
  }),
  capability({
    name: 'tools.never',
    description: 'Never settles',
    effect: 'read',
    invoke: () => new Promise(() => {}),
  }),
]
const grants = tools.map(({ name }) => name)

const unhandled: unknown[] = []
const onUnhandled = (reason: unknown): void => void unhandled.push(reason)
beforeAll(() => void process.on('unhandledRejection', onUnhandled))
afterAll(() => void process.off('unhandledRejection', onUnhandled))

/** One place only: a guest that keeps it lets every later one wait for ever. */
let runtime: Runtime
beforeEach(async () => {
  inSync = () => {}
  inAwaited = () => {}
  runtime = await openRuntime({ capabilities: tools, concurrency: 1 })
})
afterEach(async () => {
  expect(await runtime.run('1 + 2')).toMatchObject({ status: 'completed', value: 3 })
  await runtime.close()
  expect(unhandled).toEqual([])
})

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

describe.each(['host', 'worker'] as const)('in the thread "%s"', (thread) => {
  const start = (source: string, options: object = {}): Promise<Guest> =>
    runtime.start(source, { grants, thread, ...options })

  it('a guest that is aborted while parked ends at once and gives its place back', async () => {
    const controller = new AbortController()
    const guest = await start('await tools.echo(1)', { signal: controller.signal })
    controller.abort()
    expect(guest.outcome).toMatchObject({ status: 'failed', error: { code: 'aborted' } })
    expect(guest.pending).toEqual([])
    await expect(guest.settle(1, 1)).rejects.toMatchObject({ code: 'unknown_call' })
  })

  it('a guest that is parked for longer than its idle time ends and gives its place back', async () => {
    const guest = await start('await tools.echo(1)', { limits: { idleMs: 10 } })
    while (guest.outcome === undefined) await pause(5)
    expect(guest.outcome).toMatchObject({ status: 'exhausted', limit: 'idle' })
  })

  it('a guest that is disposed by its own sync capability ends with that turn', async () => {
    const guest = await start('await tools.echo(1); tools.sync(); await tools.echo(2); return 3')
    inSync = () => guest.dispose()
    await guest.settle(1, 1)
    expect(guest.outcome).toMatchObject({ status: 'failed', error: { code: 'aborted' } })
    expect(guest.pending).toEqual([])
  })

  it('a guest that is disposed while a call is at work is not waited for', async () => {
    const guest = await start('return await tools.never()')
    const answering = guest.invoke(1)
    await pause(1)
    guest.dispose()
    guest.dispose()
    expect(await answering).toBe('aborted')
    expect(guest.outcome).toMatchObject({ status: 'failed', error: { code: 'aborted' } })
  })

  it('a guest that is disposed by its own awaited capability is not given the answer', async () => {
    const guest = await start('return await tools.echo(1)')
    inAwaited = () => guest.dispose()
    expect(await guest.invoke(1)).toBe('aborted')
    expect(guest.outcome).toMatchObject({ status: 'failed', error: { code: 'aborted' } })
  })

  it('an abort from inside a sync call ends a guest that goes on computing', async () => {
    const controller = new AbortController()
    inSync = () => controller.abort()
    const running = runtime.run('tools.sync(); for (;;);', { grants, thread, signal: controller.signal })
    expect(await running).toMatchObject({ status: 'failed', error: { code: 'aborted' } })
  })

  it('one answer for one call, also when both come at the same time', async () => {
    const guest = await start('return await tools.echo(1)')
    const answers = await Promise.allSettled([guest.settle(1, 'first'), guest.settle(1, 'second')])
    expect(answers).toMatchObject([{ status: 'fulfilled' }, { reason: { code: 'unknown_call' } }])
    expect(guest.outcome).toMatchObject({ status: 'completed', value: 'first' })
  })

  it('an answer from inside the turn that asks for it is refused', async () => {
    const guest = await start('await tools.echo(1); tools.sync(); return 2')
    let inner: unknown
    inSync = () => void guest.settle(1, 5).catch((error: unknown) => (inner = error))
    await guest.settle(1, 1)
    expect(inner).toMatchObject({ code: 'unknown_call' })
    expect(guest.outcome).toMatchObject({ status: 'completed', value: 2 })
  })

  it('a closed runtime lets the guests at work finish and takes no new ones', async () => {
    const other = await openRuntime({ capabilities: tools, concurrency: 2 })
    const guest = await other.start('return await tools.echo(1)', { grants, thread })
    await other.close()
    await expect(other.run('1', { thread })).rejects.toMatchObject({ code: 'disposed' })
    await guest.invoke(1)
    expect(guest.outcome).toMatchObject({ status: 'completed', value: 1 })
  })
})

describe('in line', () => {
  it('who was aborted before does not wait for a place', async () => {
    const stop = new AbortController()
    const working = runtime.run('await tools.never()', { grants, signal: stop.signal })
    await expect(runtime.run('1', { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'aborted' })
    stop.abort()
    await working
  })

  it('who is aborted or refused leaves the others their places', async () => {
    const stop = new AbortController()
    const working = runtime.run('await tools.never()', { grants, signal: stop.signal })
    const controllers = Array.from({ length: 20 }, () => new AbortController())
    const running = controllers.map(({ signal }, i) => runtime.run(`${i}`, { signal }))
    for (const [i, controller] of controllers.entries()) if (i % 2 === 0) controller.abort()
    stop.abort()
    await working
    const ends = await Promise.allSettled(running)
    for (const controller of controllers) controller.abort()
    expect(ends.map(({ status }) => status)).toEqual(
      Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? 'rejected' : 'fulfilled')),
    )
  })
})
