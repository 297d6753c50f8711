/** What users reported of other sandboxes: a heap that was freed still weighs as much in every snapshot. */
import { afterAll, describe, expect, it } from 'vitest'
import { PROGRAMS } from '../../bench/subjects/programs.ts'
import { SteppedRun } from '../../src/isolate/heap-sweep.testkit.ts'
import { openPool } from '../../src/isolate/isolate.testkit.ts'

/** Those that allocate most. */
const ALLOCATING = ['binary-trees', 'deltablue', 'json', 'richards', 'sort', 'strings']
const programs = PROGRAMS.filter(({ name }) => ALLOCATING.includes(name))

const pool = openPool()
afterAll(() => pool.close())

describe('a heap that was built and dropped', () => {
  it('does not disturb programs of the throughput bench, which drop much themselves', () => {
    const run = new SteppedRun(
      `const programs = [${programs.map(({ source }) => `() => ${source}`).join()}]
       const results = []
       for (const program of programs) {
         let objects = Array.from({ length: 5e4 }, (_, i) => ({ i, name: 'object ' + i }))
         await world.ask()
         objects = null
         await world.ask()
         program()
         results.push(run())
         delete globalThis.run
         await world.ask()
       }
       return results`,
      pool,
    )
    while (run.waiting) run.step()
    expect(run.turn).toMatchObject({ status: 'completed' })
    const results = (run.turn as { value?: unknown }).value as unknown[]
    for (const [i, { check }] of programs.entries()) check(results[i])
    expect(results).toHaveLength(ALLOCATING.length)
    run.close()
  })
})
