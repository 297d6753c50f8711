/**
 * A thousand guests at rest, and tens of thousands of wakes: they hold what the guests themselves changed, and no wake
 * adds to that. In its first ten wakes a guest of this program changes about a dozen more of its own pages, the last one
 * between the fifth and the tenth; over 200,000 further wakes of 200 guests the heap moved by 0.3 MB, up and down.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { capability, type Guest, openRuntime } from '../../src/entry/node.ts'

const GUESTS = 1_000
/** Wakes of each guest until it changes no page that it did not change before. */
const WARM = 12
const MiB = 1024 * 1024

it('1,000 parked guests hold no more after 20,000 wakes than they did before', async () => {
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
  const held = async (): Promise<number> => {
    // What a WeakRef gave in a task lives until its end, so once is not enough.
    for (let i = 0; i < 3; i += 1) {
      collect()
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  const round = async (call: number): Promise<void> => {
    for (const guest of guests) await guest.invoke(call)
  }
  for (let call = 1; call <= WARM; call += 1) await round(call)
  const before = await held()
  const rssBefore = process.memoryUsage.rss()
  for (let call = WARM + 1; call <= WARM + 20; call += 1) await round(call)
  const grown = (await held()) - before
  expect(guests.map(({ pending }) => pending[0]?.args)).toEqual(guests.map((_, i) => i + WARM + 20))
  // 100 bytes for each wake: the heap itself moves by half of that from one look to the next.
  expect(grown / MiB).toBeLessThan(2)
  // Garbage that was not collected yet counts here.
  expect((process.memoryUsage.rss() - rssBefore) / MiB).toBeLessThan(100)
  for (const guest of guests) guest.dispose()
  expect(await runtime.run('return 1')).toMatchObject({ value: 1 })
  await runtime.close()
}, 300_000)
