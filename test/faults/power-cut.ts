/** Tells the story on a disk in memory, lets the power go before any operation, and opens what is left. */
import { openRunStoreIn } from '../../host-bindings/store/node/directory-run-store.node.ts'
import type { RunStore } from '../../src/ports/run-store.ts'
import { type SimulatedMachine, simulateMachine } from './simulated-machine.ts'
import { lookInto, pictureAfter, STORY, StoryTeller } from './store-story.ts'
import { type KeptChanges, type Random, VolatileDisk } from './volatile-disk.ts'
import { type Operation, watchFolder } from './watched-folder.ts'

/** The story, before one of its operations. */
export interface Moment {
  readonly operation: Operation
  /** Steps that have resolved. */
  readonly acknowledged: number
  readonly disk: VolatileDisk
}

/** What is lost when the power goes. */
export interface Cut {
  /** Decides what is drawn. */
  readonly seed: number
  /** Default `any`. */
  readonly kept?: KeptChanges
  /** Whether the story is then told to its end. */
  readonly goOn?: boolean
}

/** Tells the story, which waits before each operation until `look` has resolved. */
export async function atEachOperation(look: (moment: Moment) => void | Promise<void>): Promise<void> {
  let acknowledged = 0
  const disk = new VolatileDisk()
  const machine = simulateMachine('boot 1')
  const folder = watchFolder(disk.open(), {
    before: (operation) => look({ operation, acknowledged, disk }),
  })
  const teller = new StoryTeller(await openRunStoreIn(folder, machine), machine.pass)
  await teller.tell(0, STORY.length, () => {
    acknowledged += 1
  })
}

/** The operations that the whole story takes; the one at index 0 has number 1. */
export async function listOperations(): Promise<readonly Operation[]> {
  const operations: Operation[] = []
  await atEachOperation(({ operation }) => void operations.push(operation))
  return operations
}

/**
 * Cuts the power at that moment, in as many ways as there are cuts. Nothing comes after it: each is a disk of its own.
 * @returns what is wrong with what is left
 */
export async function problemsAfter(moment: Moment, cuts: readonly Cut[]): Promise<readonly string[]> {
  const disks = cuts.map(({ seed, kept }) => moment.disk.afterCut(drawFrom(seed), kept))
  const problems: string[] = []
  for (const [index, { seed, goOn = false }] of cuts.entries()) {
    const problem = await problemOf(disks[index] as VolatileDisk, moment.acknowledged, goOn)
    if (problem !== undefined) problems.push(`operation ${moment.operation.number}, seed ${seed}: ${problem}`)
  }
  return problems
}

/** On the next boot, when the power is back. */
async function problemOf(
  disk: VolatileDisk,
  acknowledged: number,
  goOn: boolean,
): Promise<string | undefined> {
  try {
    const machine = simulateMachine('boot 2')
    const store = await openRunStoreIn(disk.open(), machine)
    const { problem, done } = await lookInto(store, acknowledged)
    return problem ?? (goOn ? await finishStory(store, machine, done) : undefined)
  } catch (error) {
    return String((error as Error).stack)
  }
}

/** Does the rest of the story. @returns what is wrong at the end */
async function finishStory(
  store: RunStore,
  machine: SimulatedMachine,
  done: number,
): Promise<string | undefined> {
  const teller = new StoryTeller(store, machine.pass)
  // A checkpoint that was put and not named, or that was being collected, may be there or not: put it again.
  for (const content of pictureAfter(done).contents) await teller.perform({ do: 'put', content })
  await teller.tell(done)
  return (await lookInto(store, STORY.length)).problem
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
