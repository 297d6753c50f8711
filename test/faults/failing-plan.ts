/** The paying plan on a disk that fails once, and what must hold after that. */
import { isDeepStrictEqual } from 'node:util'
import { openRunStoreIn } from '../../host-bindings/store/node/directory-run-store.node.ts'
import { CaissonError, capability, openRuntime, type Runtime } from '../../src/entry/node.ts'
import { FAILURES } from './disk-failures.ts'
import { endOf } from './killed-plan.ts'
import { OUTPUT, PAYMENTS, PLAN } from './paying-plan.ts'
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
    capabilities: [
      capability({
        name: 'world.pay',
        description: 'Counts',
        effect: 'write',
        invoke: (args: unknown) => {
          paid.push(String(args))
          return Number(args) + 1
        },
      }),
    ],
  })
  try {
    return await work(runtime)
  } finally {
    await runtime.close()
  }
}

async function runPlan(runtime: Runtime): Promise<void> {
  const run = await runtime.propose(PLAN, { by: 'model', run: 'r' })
  await run.approve({ by: 'ann', digest: (await run.view()).request })
  await run.start({ by: 'ann' })
  await run.outcome()
  for (const { digest: request } of await run.requests())
    await run.decide({ request, by: 'ann', decision: 'approve' })
  await run.outcome()
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
  try {
    const outcome = await withRuntime(disk, {}, paid, (runtime) => endOf(runtime, paid), '2')
    const came = outcome.status === 'completed' ? outcome.output : outcome
    if (!isDeepStrictEqual(came, OUTPUT)) return [`${number}: it came to ${JSON.stringify(came)}`]
    const sorted = paid.map(Number).sort((a, b) => a - b)
    return sorted.join() === PAYMENTS.join() ? [] : [`${number}: it paid ${paid.join()}`]
  } catch (error) {
    if (CaissonError.is(error, 'not_found') && paid.length === 0) return []
    return [`${number}: ${String((error as Error).stack)}`]
  }
}
