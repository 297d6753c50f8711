/** Many guests on few instances: what the embedder sees of it, which is nothing. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { capability } from '../../src/capability/define-capability.ts'
import { openRuntime } from '../../src/entry/node.ts'
import type { Runtime } from '../../src/runtime/runtime.ts'

const echo = capability({
  name: 'tools.echo',
  description: 'Gives back what it gets',
  effect: 'read',
  invoke: (value: unknown) => value,
})

const SOURCE =
  'const own = input; let sum = 0; for (let i = 0; i < 3; i++) sum += await tools.echo(own + i); return sum'

let runtime: Runtime
beforeAll(async () => {
  runtime = await openRuntime({ capabilities: [echo], instances: 2, keepInstances: 1 })
})
afterAll(() => runtime.close())

describe('guests at rest', () => {
  it('outnumber the instances, interleave, and keep what is theirs', async () => {
    const domains = ['a', 'b', 'c']
    const guests = await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        runtime.start(SOURCE, { input: 100 * i, grants: ['tools.echo'], domain: domains[i % 3] ?? 'a' }),
      ),
    )
    for (let call = 1; call <= 3; call += 1) await Promise.all(guests.map((guest) => guest.invoke(call)))
    expect(guests.map(({ outcome }) => outcome)).toEqual(
      guests.map((_, i) => expect.objectContaining({ status: 'completed', value: 300 * i + 3 })),
    )
  })

  it('use as much fuel as one that was never parked', async () => {
    const alone = await openRuntime({ capabilities: [echo] })
    const straight = await alone.run(SOURCE, { input: 0, grants: ['tools.echo'] })
    await alone.close()
    const guests = await Promise.all(
      Array.from({ length: 4 }, () => runtime.start(SOURCE, { input: 0, grants: ['tools.echo'] })),
    )
    for (let call = 1; call <= 3; call += 1) for (const guest of guests) await guest.invoke(call)
    for (const { outcome } of guests) {
      expect(outcome?.usage.fuel).toBe(straight.usage.fuel)
      expect(outcome?.usage.memoryBytes).toBe(straight.usage.memoryBytes)
    }
  })

  it('that are dropped leave nothing behind', async () => {
    for (let i = 0; i < 200; i += 1) {
      const guest = await runtime.start(SOURCE, { input: i, grants: ['tools.echo'] })
      if (i % 2 === 0) guest.dispose()
      else await guest.settle(1, 1)
      guest.dispose()
    }
    expect(await runtime.run('return 1')).toMatchObject({ status: 'completed', value: 1 })
  })

  it('go on after the runtime was closed', async () => {
    const closing = await openRuntime({ capabilities: [echo], instances: 1 })
    const guests = await Promise.all(
      [1, 2, 3].map((input) => closing.start(SOURCE, { input, grants: ['tools.echo'] })),
    )
    await closing.close()
    for (let call = 1; call <= 3; call += 1) for (const guest of guests) await guest.invoke(call)
    expect(guests.map(({ outcome }) => outcome?.status)).toEqual(['completed', 'completed', 'completed'])
  })
})

describe('the line of guests at work', () => {
  it('gives domains their turns, so that one with many does not keep the others waiting', async () => {
    const order: string[] = []
    const slow = capability({
      name: 'tools.slow',
      description: 'Notes who works',
      effect: 'read',
      invoke: async (who: unknown) => {
        order.push(String(who))
        await new Promise((resolve) => setTimeout(resolve, 1))
      },
    })
    const fair = await openRuntime({ capabilities: [slow], concurrency: 1 })
    const run = (domain: string): Promise<unknown> =>
      fair.run('await tools.slow(input)', { domain, input: domain, grants: ['tools.slow'] })
    await Promise.all([...Array.from({ length: 6 }, () => run('many')), run('few'), run('other')])
    await fair.close()
    expect(order.slice(0, 4).sort()).toEqual(['few', 'many', 'many', 'other'])
  })

  it('takes at most so many of one domain, and fails none', async () => {
    let [atWork, most] = [0, 0]
    const slow = capability({
      name: 'tools.slow',
      description: 'Counts who works',
      effect: 'read',
      invoke: async () => {
        atWork += 1
        most = Math.max(most, atWork)
        await new Promise((resolve) => setTimeout(resolve, 1))
        atWork -= 1
      },
    })
    const fair = await openRuntime({ capabilities: [slow], concurrencyPerDomain: 2 })
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, () => fair.run('await tools.slow()', { grants: ['tools.slow'] })),
    )
    await fair.close()
    expect(outcomes.every(({ status }) => status === 'completed')).toBe(true)
    expect(most).toBe(2)
  })
})
