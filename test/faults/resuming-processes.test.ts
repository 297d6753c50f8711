/**
 * Real processes that go on with one kept run: at once, and one after the other's lease has run out because it was
 * frozen. One goes on, the others are told, and nothing is paid twice.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CaissonError, type Outcome, type Runtime } from '../../src/entry/node.ts'
import { openWorld, type World } from './resuming-processes.ts'

const LEASE_MS = 1_000
/** For those who are not to lose a run because the machine is busy. */
const LONG_MS = 15_000
const ROUNDS = 8

let world: World
beforeAll(async () => {
  world = await openWorld(LEASE_MS)
})
afterAll(() => world[Symbol.asyncDispose]())

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Takes a run over as soon as it can be had. */
async function takeOver(runtime: Runtime, run: string, answers: readonly object[]): Promise<Outcome> {
  for (;;) {
    try {
      return await runtime.resume(run, { grants: ['world.pay'], answers: answers as never })
    } catch (error) {
      if (!CaissonError.is(error, 'store_conflict')) throw error
      await pause(Number(error.details.retryAfterMs))
    }
  }
}

describe('two processes that resume one run at once', () => {
  it(`are one that goes on and one that is told when to ask again, ${ROUNDS} times`, async () => {
    const processes = await Promise.all([world.start(LONG_MS), world.start(LONG_MS)])
    for (let round = 0; round < ROUNDS; round += 1) {
      const run = `race-${round}`
      await world.park(run, 3)
      const endings = processes.map((one) => one.resume({ run, delayMs: 12 * Math.random() }))
      const first = await Promise.race(endings)
      expect(first).toMatchObject({ run, end: 'store_conflict' })
      expect(first.retryAfterMs).toBeGreaterThan(0)
      expect(first.retryAfterMs).toBeLessThanOrEqual(LONG_MS + 50)
      world.answer(run)
      const ends = (await Promise.all(endings)).map(({ end }) => end)
      expect(ends.sort()).toEqual(['completed', 'store_conflict'])
      expect(world.paidFor(run)).toEqual([0, 1, 2])
    }
  })
})

describe('a process that is frozen for longer than its lease', () => {
  it('neither records its late answer nor calls anything when it thaws, and is told that it lost the run', async () => {
    const run = 'frozen'
    await world.park(run, 4)
    const frozen = await world.start()
    const ending = frozen.resume({ run, delayMs: 0 })
    await expect.poll(() => world.paidFor(run), { interval: 5, timeout: 20_000 }).toEqual([0, 1])
    frozen.signal('SIGSTOP')
    const outcome = await takeOver(world.runtime, run, [{ id: 2, value: 'by hand' }])
    expect(outcome).toMatchObject({ status: 'completed', value: '1,by hand,3,4' })
    const [head, entries] = [await world.store.head(run), await world.store.entries(run, 0, 1_000)]
    world.answer(run) // its own answer is there when it thaws
    frozen.signal('SIGCONT')
    expect(await ending).toEqual({ run, end: 'lease_lost' })
    expect(await world.store.head(run)).toEqual(head)
    expect(await world.store.entries(run, 0, 1_000)).toEqual(entries)
    expect(world.paidFor(run)).toEqual([0, 1, 2, 3])
    expect(await frozen.resume({ run, delayMs: 0 })).toEqual({ run, end: 'completed' })
  })
})
