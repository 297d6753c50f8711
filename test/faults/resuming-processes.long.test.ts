/** As `resuming-processes.test.ts`: frozen at 60 random moments, and 300 races. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CaissonError, type Outcome } from '../../src/entry/node.ts'
import { openWorld, type World } from './resuming-processes.ts'

let world: World
beforeAll(async () => {
  world = await openWorld(500)
})
afterAll(() => world[Symbol.asyncDispose]())

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Goes on with a run here. Of a call in doubt, what was paid says whether it took effect. */
async function goOn(run: string): Promise<Outcome> {
  let decided: object = {}
  for (;;) {
    try {
      const outcome = await world.runtime.resume(run, { grants: ['world.pay'], ...decided })
      const [id] = outcome.status === 'suspended' ? outcome.inDoubt : []
      if (id === undefined) return outcome
      const n = id - 1
      decided = world.paidFor(run).includes(n) ? { answers: [{ id, value: n + 1 }] } : { confirm: [id] }
    } catch (error) {
      if (!CaissonError.is(error, 'store_conflict')) throw error
      await pause(Number(error.details.retryAfterMs))
    }
  }
}

it('a process that is frozen at any moment pays nothing twice when it thaws', {
  timeout: 600_000,
}, async () => {
  const frozen = await world.start()
  for (let round = 0; round < 60; round += 1) {
    const run = `frozen-${round}`
    await world.park(run, 8)
    world.answer(run)
    const ending = frozen.resume({ run, delayMs: 0 })
    await pause(80 * Math.random())
    frozen.signal('SIGSTOP')
    expect(await goOn(run)).toMatchObject({ status: 'completed', value: '1,2,3,4,5,6,7,8' })
    const entries = await world.store.entries(run, 0, 1_000)
    frozen.signal('SIGCONT')
    expect((await ending).end).toMatch(/^(?:completed|lease_lost|store_conflict)$/)
    expect(await world.store.entries(run, 0, 1_000)).toEqual(entries)
    expect(world.paidFor(run)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  }
})

it('of three processes that resume one run at once, one goes on', { timeout: 600_000 }, async () => {
  const processes = await Promise.all([1, 2, 3].map(() => world.start(15_000)))
  for (let round = 0; round < 300; round += 1) {
    const run = `race-${round}`
    await world.park(run, 3)
    const endings = processes.map((one) => one.resume({ run, delayMs: 20 * Math.random() }))
    let told = 0
    const both = new Promise<void>((resolve) => {
      for (const ending of endings) {
        void ending.then(() => {
          told += 1
          if (told === 2) resolve()
        })
      }
    })
    await both
    world.answer(run)
    const ends = (await Promise.all(endings)).map(({ end }) => end)
    expect(ends.sort()).toEqual(['completed', 'store_conflict', 'store_conflict'])
    expect(world.paidFor(run)).toEqual([0, 1, 2])
  }
})
