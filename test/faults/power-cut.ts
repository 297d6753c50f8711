/** Runs the story on a disk in memory until the power goes, and opens what is left. */
import { openRunStoreIn } from '../../host-bindings/store/node/directory-run-store.node.ts'
import type { RunStore } from '../../src/ports/run-store.ts'
import { type SimulatedMachine, simulateMachine } from './simulated-machine.ts'
import { happened, pictureAfter, problemOf, STORY, StoryTeller } from './store-story.ts'
import { type KeptChanges, type Random, VolatileDisk } from './volatile-disk.ts'
import { type Operation, watchFolder } from './watched-folder.ts'

interface AfterCut {
  /** Opened after the power came back, on the next boot. */
  readonly store: RunStore
  readonly machine: SimulatedMachine
  /** Steps of the story that had resolved. */
  readonly acknowledged: number
}

/** Cuts the power before operation `number`, and says what is wrong afterwards, and whether the story can go on. */
export async function problemsAt(
  number: number,
  seed: number,
  goOn: boolean,
  kept?: KeptChanges,
): Promise<readonly string[]> {
  const { store, acknowledged, machine } = await cutAt(number, drawFrom(seed), kept)
  const problem = await problemOf(store, STORY, acknowledged).catch(String)
  const failure = goOn ? await finishStory(store, machine, acknowledged) : undefined
  return [problem, failure].flatMap((one) =>
    one === undefined ? [] : [`operation ${number}, seed ${seed}: ${one}`],
  )
}

/** The operations that the whole story takes; the one at index 0 has number 1. */
export async function listOperations(): Promise<readonly Operation[]> {
  const operations: Operation[] = []
  const machine = simulateMachine('boot 1')
  const folder = watchFolder(new VolatileDisk().open(), {
    before: (operation) => {
      operations.push(operation)
    },
  })
  const store = await openRunStoreIn(folder, machine)
  const teller = new StoryTeller(store, machine.pass)
  for (const [index, step] of STORY.entries()) await teller.perform(step, pictureAfter(STORY.slice(0, index)))
  return operations
}

/** Cuts the power before operation `number`; nothing that comes after it happens. */
async function cutAt(number: number, random: Random, kept?: KeptChanges): Promise<AfterCut> {
  const disk = new VolatileDisk()
  const before = simulateMachine('boot 1')
  const folder = watchFolder(disk.open(), {
    before: (operation) => {
      if (operation.number >= number) throw new Error('the power is gone')
    },
  })
  let acknowledged = 0
  try {
    const store = await openRunStoreIn(folder, before)
    const teller = new StoryTeller(store, before.pass)
    for (const [index, step] of STORY.entries()) {
      await teller.perform(step, pictureAfter(STORY.slice(0, index)))
      acknowledged += 1
    }
  } catch {
    // Every step after the cut fails.
  }
  disk.cutPower(random, kept)
  const machine = simulateMachine('boot 2')
  return { store: await openRunStoreIn(disk.open(), machine), machine, acknowledged }
}

/** Does the rest of the story. @returns what went wrong */
async function finishStory(
  store: RunStore,
  machine: SimulatedMachine,
  acknowledged: number,
): Promise<string | undefined> {
  const teller = new StoryTeller(store, machine.pass)
  try {
    const done = await happened(store, STORY, acknowledged)
    // A checkpoint that was put and not named, or that was being collected, may be there or not: put it again.
    for (const content of pictureAfter(STORY.slice(0, done)).contents) {
      await teller.perform({ do: 'put', content }, pictureAfter([]))
    }
    for (let index = done; index < STORY.length; index++) {
      const step = STORY[index]
      if (step !== undefined) await teller.perform(step, pictureAfter(STORY.slice(0, index)))
    }
    return await problemOf(store, STORY, STORY.length)
  } catch (error) {
    return String((error as Error).stack)
  }
}

/** Numbers that look random and are the same for the same seed (xorshift32). */
function drawFrom(seed: number): Random {
  let state = seed | 0 || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}
