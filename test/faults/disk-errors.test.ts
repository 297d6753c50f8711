/**
 * Every change of the disk fails in turn, once: with EIO before or after it was made, or because the disk is full.
 *
 * The step that meets it fails with a typed error, nothing that was acknowledged is lost, the same store goes on when
 * it is asked again, and what it acknowledged after the failure is durable too.
 */
import { describe, expect, it } from 'vitest'
import { openRunStoreIn } from '../../host-bindings/store/node/directory-run-store.node.ts'
import { CaissonError } from '../../src/base/errors.ts'
import type { RunStore } from '../../src/ports/run-store.ts'
import { FAILURES, type Failure, fail } from './disk-failures.ts'
import { listOperations } from './power-cut.ts'
import { simulateMachine } from './simulated-machine.ts'
import { lookInto, pictureAfter, STORY, StoryTeller } from './store-story.ts'
import { VolatileDisk } from './volatile-disk.ts'
import { type Operation, watchFolder } from './watched-folder.ts'

/**
 * Tells the story on a disk that fails once.
 * @param goesOn whether the same process does after that, or another one, which takes its runs
 * @returns what was wrong
 */
async function problemsWith(
  failure: Failure,
  number: number,
  goesOn: 'same' | 'another',
): Promise<readonly string[]> {
  const problems: string[] = []
  const disk = new VolatileDisk()
  const machine = simulateMachine('boot 1')
  const folder = watchFolder(disk.open(), failure.watcher(number))
  const checkCode = (error: unknown): void => {
    const codes = [failure.code, 'store_conflict', 'lease_lost']
    if (!CaissonError.is(error) || !codes.includes(error.code)) problems.push(String((error as Error).stack))
  }
  const open = (): Promise<RunStore> => openRunStoreIn(folder, machine)
  let store = await open().catch((error: unknown) => {
    checkCode(error)
    return open()
  })
  let teller = new StoryTeller(store, machine.pass)
  let done = 0
  for (let attempt = 0; done < STORY.length && attempt < STORY.length + 5; attempt++) {
    const step = STORY[done]
    try {
      if (step !== undefined) await teller.perform(step, pictureAfter(done))
      done += 1
    } catch (error) {
      checkCode(error)
      if (goesOn === 'another') {
        const next = simulateMachine('boot 1', '2', new Set(['1']))
        store = await openRunStoreIn(disk.open(), next)
        teller = new StoryTeller(store, next.pass)
        // What the other one finds when it takes the run is durable from then on, acknowledged or not.
        if (step !== undefined && 'run' in step) {
          await teller.perform({ do: 'renew', run: step.run })
        }
      }
      const found = await lookInto(store, done)
      if (found.problem !== undefined) problems.push(found.problem)
      done = found.done
    }
  }
  if (done < STORY.length) problems.push(`the story ended at step ${done}`)
  const left = disk.afterCut(() => 0)
  const after = await openRunStoreIn(left.open(), simulateMachine('boot 2'))
  const { problem } = await lookInto(after, done)
  if (problem !== undefined) problems.push(`after a power cut: ${problem}`)
  return problems.map((one) => `operation ${number}: ${one}`)
}

describe.each(Object.entries(FAILURES))(
  'a directory store that meets %s',
  { timeout: 300_000 },
  (_name, failure) => {
    it('1: says so, loses nothing, and goes on', async () => {
      const operations = await listOperations()
      const problems: string[] = []
      for (const { number } of operations.filter((operation) => failure.meets(operation))) {
        problems.push(...(await problemsWith(failure, number, 'same')))
      }
      expect(problems.slice(0, 5)).toEqual([])
    })
  },
)

describe('a process that takes over from one that met a failed sync', { timeout: 300_000 }, () => {
  it('1: makes durable what it goes on from', async () => {
    const failure = FAILURES['EIO instead of it'] as Failure
    const syncs = (await listOperations()).filter(({ name }) => name === 'datasync' || name === 'sync')
    const problems: string[] = []
    for (const { number } of syncs) problems.push(...(await problemsWith(failure, number, 'another')))
    expect(problems.slice(0, 5)).toEqual([])
  })
})

describe('a directory store on a disk that stays full', () => {
  it('keeps what was acknowledged, and can be read', async () => {
    const operations = await listOperations()
    const problems: string[] = []
    for (const { number } of operations.filter((operation) => operation.number % 7 === 0)) {
      const disk = new VolatileDisk()
      const machine = simulateMachine('boot 1')
      const full = (operation: Operation): void => {
        const needsRoom = ['write', 'openFile', 'makeDirectory', 'link', 'rename'].includes(operation.name)
        if (operation.number >= number && needsRoom) fail('ENOSPC', operation)
      }
      let acknowledged = 0
      try {
        const store = await openRunStoreIn(watchFolder(disk.open(), { before: full }), machine)
        const teller = new StoryTeller(store, machine.pass)
        await teller.tell(0, STORY.length, () => {
          acknowledged += 1
        })
      } catch (error) {
        if (!CaissonError.is(error, 'quota_exceeded')) problems.push(String(error))
      }
      const after = await openRunStoreIn(disk.open(), simulateMachine('boot 1', '2', new Set(['1'])))
      const { problem } = await lookInto(after, acknowledged)
      if (problem !== undefined) problems.push(`operation ${number}: ${problem}`)
    }
    expect(problems.slice(0, 5)).toEqual([])
  })
})
