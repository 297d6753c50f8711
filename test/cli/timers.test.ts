/** Programs with timers on the command line: how they end, are parked, shown and gone on with. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cli, type Ended, type Folder, makeFolder } from './cli.testkit.ts'
import { flat } from './kept.testkit.ts'

let folder: Folder
const caisson = (...args: readonly string[]): Promise<Ended> => cli(args, { cwd: folder.path })

beforeAll(() => {
  folder = makeFolder({
    'late.js': `setTimeout(() => console.log('fired'), 60_000); 'value'`,
    'beat.js': 'setInterval(() => {}, 1)',
    'throws.js': 'setTimeout(() => { throw new RangeError("lost") }); "value"',
  })
})
afterAll(() => folder.remove())

describe('caisson run', () => {
  it('says what a program left pending that is not waited for', async () => {
    const { code, stdout, stderr } = await caisson('run', 'late.js', '--at-end', 'drop')
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'value\n' })
    expect(stderr).toContain('left 1 timer pending')
    const { json } = await caisson('run', 'late.js', '--at-end', 'drop', '--json')
    expect(json()).toMatchObject({ status: 'completed', left: { calls: [], timers: 1 }, wakeAtMs: null })
  })

  it('stops a program that waits too long for its timers, and says how to let it wait', async () => {
    const { code, stderr } = await caisson('run', 'late.js', '--idle', '50ms')
    expect(code).toBe(4)
    expect(flat(stderr)).toContain('only waited, for people or timers, for all of its 50 ms')
    expect(flat(stderr)).toContain('--idle 1s')
    const kept = await caisson('run', 'late.js', '--idle', '50ms', '--store', 'kept', '--run', 'idle')
    expect(flat(kept.stderr)).toContain('resume idle --store kept --idle 1d')
    const late = new Date(Date.now() + 3_600_000).toISOString()
    const done = await caisson('resume', 'idle', '--store', 'kept', '--idle', '1d', '--now', late)
    expect(done).toMatchObject({ code: 0, stdout: 'value\n' })
  })

  it('says on a terminal that it waits for a timer, and for how long', async () => {
    const { stderr } = await cli(['run', 'late.js', '--idle', '1s'], {
      cwd: folder.path,
      columns: 100,
    })
    expect(stderr).toMatch(/running late\.js · [\d.]+ m?s · waiting for a timer, due in (?:1 m|59 s)/)
  })

  it('stops a program that arms too many timers, and says how to allow more', async () => {
    const { code, stderr } = await caisson('run', 'beat.js', '--timers', '3')
    expect(code).toBe(4)
    expect(flat(stderr)).toContain('armed timers more than its 3 times')
    expect(flat(stderr)).toContain('--timers 6')
  })

  it('tells of an error that a timer threw', async () => {
    const { code, stderr } = await caisson('run', 'throws.js')
    expect(code).toBe(0)
    expect(flat(stderr)).toContain('nobody handled an error: RangeError: lost')
  })

  it('parks a program that has its value and timers, and resume fires them when they are due', async () => {
    const parked = await caisson('run', 'late.js', '--at-end', 'suspend', '--store', 's', '--run', 'r')
    expect(parked.code).toBe(6)
    expect(flat(parked.stderr)).toContain('suspended: it waits for its timers')
    const shown = await caisson('show', 'r', '--store', 's')
    expect(flat(shown.stdout)).toMatch(/waits for a timer that is due at \d{4}-\d\d-\d\dT/)
    const listed = await caisson('runs', '--store', 's')
    expect(flat(listed.stdout)).toContain('a timer that is due at')
    const late = new Date(Date.now() + 3_600_000).toISOString()
    const done = await caisson('resume', 'r', '--store', 's', '--now', late)
    expect(done).toMatchObject({ code: 0, stdout: 'value\n' })
    expect(done.stderr).toContain('fired')
  })

  it('refuses what --at-end does not take, and to park where nothing is kept', async () => {
    expect(await caisson('run', 'late.js', '--at-end', 'never')).toMatchObject({ code: 2 })
    const { code, stderr } = await caisson('run', 'late.js', '--at-end', 'suspend')
    expect(code).toBe(2)
    expect(flat(stderr)).toContain('--at-end suspend is about a run that is kept')
  })
})
