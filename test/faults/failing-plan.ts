/** The paying plan on a disk that fails once, and what must hold after that. */
import { openRunStoreIn } from '../../host-bindings/store/node/directory-run-store.node.ts'
import { CaissonError, openRuntime, type Runtime } from '../../src/entry/node.ts'
import { FAILURES } from './disk-failures.ts'
import { problemsAfterGoingOn, runPlan } from './paying-people.ts'
import { payingWorld } from './paying-world.ts'
import { simulateMachine } from './simulated-machine.ts'
import { VolatileDisk } from './volatile-disk.ts'
import { type Operation, type Watcher, watchFolder } from './watched-folder.ts'

/** What the store of a run says, whatever it is asked. */
const SAID = ['store_failed', 'quota_exceeded', 'store_conflict', 'lease_lost', 'not_recorded']

async function withRuntime<T>(
  disk: VolatileDisk,
  watcher: Watcher,
  paid: string[],
  work: (runtime: Runtime) => Promise<T>,
  process: string,
): Promise<T> {
  const machine = simulateMachine('boot 1', process, new Set(['1'].filter((one) => one !== process)))
  const store = await openRunStoreIn(watchFolder(disk.open(), watcher), machine)
  const runtime = await openRuntime({
    store,
    checkpoints: { every: { calls: 1 } },
    capabilities: [payingWorld((amount) => paid.push(amount))],
  })
  try {
    return await work(runtime)
  } finally {
    await runtime.close()
  }
}

/** Operations of a run that meets nothing. */
export async function planOperations(): Promise<readonly Operation[]> {
  const operations: Operation[] = []
  const watcher: Watcher = { before: (operation) => void operations.push(operation) }
  await withRuntime(new VolatileDisk(), watcher, [], runPlan, '1')
  return operations
}

/** @returns what was wrong after the operation failed in that way */
export async function problemsOfPlan(
  failure: keyof typeof FAILURES,
  number: number,
): Promise<readonly string[]> {
  const disk = new VolatileDisk()
  const paid: string[] = []
  const watcher = FAILURES[failure]?.watcher(number) ?? {}
  try {
    await withRuntime(disk, watcher, paid, runPlan, '1')
  } catch (error) {
    if (!CaissonError.is(error) || !SAID.includes(error.code))
      return [`${number}: ${String((error as Error).stack)}`]
  }
  const found = await withRuntime(disk, {}, paid, (runtime) => problemsAfterGoingOn(runtime, paid), '2')
  return found.map((problem) => `${number}: ${problem}`)
}
