/** A thousand guests at rest, and thousands of wakes: what they hold stays within what the guests themselves changed. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { capability, type Guest, openRuntime } from '../../src/entry/node.ts'

const GUESTS = 1_000
const MiB = 1024 * 1024

it('1,000 parked guests hold a few more pages each after 5,000 wakes, and no more than that', async () => {
  const next = capability({
    name: 'tools.next',
    description: 'Adds one',
    effect: 'read',
    invoke: (n: unknown) => (n as number) + 1,
  })
  const runtime = await openRuntime({ capabilities: [next], instances: 8, keepInstances: 8 })
  const source = 'let n = input; for (;;) n = await tools.next(n)'
  const guests: Guest[] = []
  for (let i = 0; i < GUESTS; i += 1) {
    guests.push(await runtime.start(source, { input: i, grants: ['tools.next'], limits: { calls: 1_000 } }))
  }
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const held = (): number => {
    collect()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  const round = async (call: number): Promise<void> => {
    for (const guest of guests) await guest.invoke(call)
  }
  await round(1)
  await round(2)
  const before = held()
  const rssBefore = process.memoryUsage.rss()
  for (let call = 3; call <= 7; call += 1) await round(call)
  const grown = held() - before
  expect(guests.map(({ pending }) => pending[0]?.args)).toEqual(guests.map((_, i) => i + 7))
  // In its first wakes a guest changes some ten more of its own pages; from then on it is about 200 bytes a wake.
  expect(grown / MiB).toBeLessThan(60)
  // Garbage that was not collected yet counts here.
  expect((process.memoryUsage.rss() - rssBefore) / MiB).toBeLessThan(150)
  for (const guest of guests) guest.dispose()
  expect(await runtime.run('return 1')).toMatchObject({ value: 1 })
  await runtime.close()
}, 300_000)
