/** Guests that are put down while they fetch or read: they go on right, or are told by name what is gone. */
import type { ServerResponse } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { capability, type Guest, type Outcome, openRuntime, type Runtime } from '../../src/entry/node.ts'
import { closeNets, netFor, openNet } from '../guest/streamed-bodies.testkit.ts'

afterEach(closeNets)

const GRANTS = ['net.fetch', 'test.tell']
const LOST = ['TypeError', 'body_lost']

/** `one,` at once; `two` when the test says so, or at once where somebody asks again. */
function openStory() {
  const waiting: ServerResponse[] = []
  let asked = 0
  return {
    finish: () => {
      for (const response of waiting.splice(0)) response.end('two')
    },
    handler: (_request: unknown, response: ServerResponse): void => {
      asked += 1
      response.write('one,')
      if (asked === 1) waiting.push(response)
      else response.end('two')
    },
  }
}

const READER = `
  const decoder = new TextDecoder()
  const failure = (error) => [error.name, error.cause?.code]
  const next = (reader) => reader.read().then(({ value, done }) => done ? 'end' : decoder.decode(value), failure)`

const HALF_READ = `${READER}
  const reader = (await fetch(input)).body.getReader()
  const first = await next(reader)
  await test.tell('half')
  const second = await next(reader)
  const again = Array.isArray(second) ? await (await fetch(input)).text() : 'not asked'
  return [first, second, again]`

/** Answers the calls of a guest by their capabilities until it waits for one of `name`. */
async function untilCall(guest: Guest, name: string): Promise<void> {
  for (;;) {
    const [call] = guest.pending
    if (call === undefined) throw new Error('it ended')
    if (call.capability === name) return
    await guest.invoke(call.id)
  }
}

const endOf = (outcome: Outcome): unknown => (outcome.status === 'completed' ? outcome.value : outcome)

describe('a checkpoint of a guest', () => {
  it('with a half-read body goes on where it is restored with a read that says what is gone', async () => {
    const story = openStory()
    const { runtime, origin, server } = await openNet(story.handler)
    const guest = await runtime.start(HALF_READ, { input: origin, grants: GRANTS })
    await untilCall(guest, 'test.tell')
    const bytes = await guest.checkpoint()
    await using elsewhere = await openElsewhere(server)
    const restored = await elsewhere.restore(bytes, { grants: GRANTS })
    await restored.settle(restored.pending[0]?.id ?? 0, null)
    expect(endOf(await restored.finish())).toEqual(['one,', LOST, 'one,two'])
    // The one that was not put down still has its body.
    story.finish()
    expect(endOf(await guest.finish())).toEqual(['one,', 'two', 'not asked'])
  })

  it('with a read, a fetch and a timer pending makes the fetch again, and nothing hangs', async () => {
    const story = openStory()
    const { runtime, origin, server } = await openNet(story.handler)
    const source = `${READER}
      const reader = (await fetch(input)).body.getReader()
      const first = await next(reader)
      const timer = new Promise((resolve) => setTimeout(resolve, 20, 'timer'))
      return Promise.all([first, next(reader), fetch(input).then((response) => response.text()), timer])`
    const guest = await runtime.start(source, { input: origin, grants: GRANTS })
    while (guest.pending.length < 2) await guest.invoke(guest.pending[0]?.id ?? 0)
    const bytes = await guest.checkpoint()
    guest.dispose()
    await using elsewhere = await openElsewhere(server)
    const restored = await elsewhere.restore(bytes, { grants: GRANTS })
    expect(restored.inDoubt).toEqual([])
    expect(endOf(await restored.finish())).toEqual(['one,', LOST, 'one,two', 'timer'])
  })

  it('with a tee gives the slow branch what the fast one had read, and fails both after that', async () => {
    const story = openStory()
    const { runtime, origin, server } = await openNet(story.handler)
    const source = `${READER}
      const response = await fetch(input), copy = response.clone()
      const one = response.body.getReader(), two = copy.body.getReader()
      const first = await next(one)
      await test.tell('half')
      return [first, await next(two), await next(one), await next(two)]`
    const guest = await runtime.start(source, { input: origin, grants: GRANTS })
    await untilCall(guest, 'test.tell')
    const bytes = await guest.checkpoint()
    guest.dispose()
    await using elsewhere = await openElsewhere(server)
    const restored = await elsewhere.restore(bytes, { grants: GRANTS })
    await restored.settle(restored.pending[0]?.id ?? 0, null)
    expect(endOf(await restored.finish())).toEqual(['one,', 'one,', LOST, LOST])
  })
})

describe('a kept run', () => {
  it('that died while it read goes on and hears what is gone; its record repeats without a network', async () => {
    const story = openStory()
    const store = createMemoryRunStore()
    let told: () => void = () => {}
    const half = new Promise<void>((resolve) => {
      told = resolve
    })
    const { runtime, origin, server } = await openNet(story.handler, {}, () => told(), { store })
    const dying = new AbortController()
    const options = { input: origin, grants: GRANTS, run: 'r', seed: 1, stateDigest: true }
    const running = runtime.run(HALF_READ, { ...options, signal: dying.signal })
    await half
    // Some time for the second read to be asked of the server, which never answers it.
    await new Promise((resolve) => setTimeout(resolve, 30))
    dying.abort()
    expect(await running).toMatchObject({ status: 'failed', error: { code: 'aborted' } })
    await using elsewhere = await openElsewhere(server, { store })
    const done = await elsewhere.resume('r', { grants: GRANTS, stateDigest: true })
    expect(endOf(done)).toEqual(['one,', LOST, 'one,two'])
    const before = server.asked.length
    const repeated = await elsewhere.repeat('r', { grants: GRANTS, stateDigest: true })
    expect(endOf(repeated)).toEqual(endOf(done))
    expect(repeated.stateDigest).toBe(done.stateDigest)
    expect(server.asked.length).toBe(before)
  })

  it('repeats a body that was read in pieces: the same chunks, the same fuel, the same memory', async () => {
    const store = createMemoryRunStore()
    const { runtime, origin, server } = await openNet(
      (_request, response) => {
        let sent = 0
        const more = (): void => {
          sent += 1
          if (sent > 5) response.end()
          else response.write('x'.repeat(sent * 10_000), () => setTimeout(more, 2))
        }
        more()
      },
      {},
      undefined,
      { store },
    )
    const source = `
      const sizes = []
      for await (const chunk of (await fetch(input)).body) sizes.push(chunk.length)
      return sizes`
    const options = { grants: GRANTS, stateDigest: true }
    const kept = await runtime.run(source, { ...options, input: origin, run: 'r', seed: 1 })
    const sizes = endOf(kept) as number[]
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(150_000)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(65_536)
    const repeated = await runtime.repeat('r', options)
    expect([endOf(repeated), repeated.usage.fuel, repeated.stateDigest]).toEqual([
      ...[sizes, kept.usage.fuel, kept.stateDigest],
    ])
    expect(server.asked).toHaveLength(1)
  })

  it('that is parked and taken up lets go of the connection, and says so at the next read', async () => {
    const story = openStory()
    const store = createMemoryRunStore()
    const { runtime, origin, server } = await openNet(story.handler, {}, undefined, { store })
    // Calls: fetch, read, tell; parked before it is told.
    const parked = await runtime.run(HALF_READ, { input: origin, grants: GRANTS, run: 'r', stopAtCall: 3 })
    expect(parked.status).toBe('suspended')
    await using elsewhere = await openElsewhere(server, { store })
    expect(endOf(await elsewhere.resume('r', { grants: GRANTS }))).toEqual(['one,', LOST, 'one,two'])
  })
})

describe('a session', () => {
  it('does not keep a body from one turn to the next, and says so', async () => {
    const story = openStory()
    const { runtime, origin } = await openNet(story.handler)
    const session = await runtime.openSession({ grants: GRANTS })
    await session.evaluate(`${READER}
      const reader = (await fetch(${JSON.stringify(origin)})).body.getReader()
      const first = await next(reader)`)
    const outcome = await session.evaluate(
      `[first, await next(reader), await (await fetch(${JSON.stringify(origin)})).text()]`,
    )
    expect(endOf(outcome)).toEqual(['one,', LOST, 'one,two'])
    session.close()
  })
})

/** Another runtime with a binding of its own, as another process would have. */
async function openElsewhere(
  server: Parameters<typeof netFor>[0],
  options: Parameters<typeof openRuntime>[0] = {},
): Promise<Runtime> {
  const tell = capability({ name: 'test.tell', description: 'Tells', effect: 'write', invoke: () => null })
  return openRuntime({ ...options, capabilities: [...netFor(server), tell] })
}
