/** A run that has ended is erased, cut, exported or imported on a disk that fails, or whose power goes: what must hold after that. */
import { openRunStoreIn } from '../../host-bindings/store/node/directory-run-store.node.ts'
import { CaissonError, capability, openRuntime, type Plan, type Runtime } from '../../src/entry/node.ts'
import type { Failure } from './disk-failures.ts'
import { simulateMachine } from './simulated-machine.ts'
import { VolatileDisk } from './volatile-disk.ts'
import { type Operation, type Watcher, watchFolder } from './watched-folder.ts'

const OUTPUT = 'said'.repeat(1_000)

const PLAN: Plan = {
  format: 'plan/1',
  name: 'said',
  version: '1',
  grants: ['echo.say'],
  nodes: {
    kept: {
      kind: 'program',
      source: 'return await echo.say(input)',
      input: { $from: 'input' },
      grants: ['echo.say'],
    },
  },
  output: { $from: 'kept' },
}

/** What the store says, whatever it is asked. */
const SAID = ['store_failed', 'quota_exceeded', 'store_conflict', 'lease_lost']

/** What is done with the whole of a run. */
export const WHOLE: Readonly<Record<string, (runtime: Runtime) => Promise<unknown>>> = {
  erase: (runtime) => runtime.erase('r', { by: 'carol' }),
  compact: (runtime) => runtime.compact('r', { by: 'carol' }),
  export: (runtime) => runtime.exportRun('r'),
  import: (runtime) => runtime.importRun(file),
}

export type Whole = keyof typeof WHOLE

/** @param process number of the one that looks: others are dead */
async function onDisk<T>(
  disk: VolatileDisk,
  watcher: Watcher,
  process: string,
  work: (runtime: Runtime) => Promise<T>,
): Promise<T> {
  const machine = simulateMachine('boot 1', process, new Set(['1', '2'].filter((one) => one !== process)))
  const store = await openRunStoreIn(watchFolder(disk.open(), watcher), machine)
  const say = capability({
    name: 'echo.say',
    description: 'Says it',
    effect: 'read',
    invoke: async () => OUTPUT,
  })
  const runtime = await openRuntime({ store, capabilities: [say] })
  try {
    return await work(runtime)
  } finally {
    await runtime.close()
  }
}

/** Has run "r", or none where it is imported. */
const completed = new VolatileDisk()
const file = await onDisk(completed, {}, '0', async (runtime) => {
  const run = await runtime.propose(PLAN, { by: 'ann', run: 'r', input: 1, erasable: true })
  await run.approve({ by: 'ann', digest: (await run.view()).request })
  await run.start({ by: 'ann' })
  await run.outcome()
  return runtime.exportRun('r')
})
const empty = new VolatileDisk()
await onDisk(empty, {}, '0', async () => {})

/** Everything on it was acknowledged, and so is on every copy. */
function diskFor(what: Whole): VolatileDisk {
  return (what === 'import' ? empty : completed).afterCut(() => 0)
}

/** Operations of it where nothing fails. */
export async function operationsOf(what: Whole): Promise<readonly Operation[]> {
  const operations: Operation[] = []
  await onDisk(diskFor(what), { before: (operation) => void operations.push(operation) }, '1', (runtime) =>
    doneBy(what, runtime),
  )
  return operations
}

function doneBy(what: Whole, runtime: Runtime): Promise<unknown> {
  return (WHOLE[what] as (runtime: Runtime) => Promise<unknown>)(runtime)
}

/** @returns what is wrong after the operation failed in that way */
export async function problemsOfFailure(
  what: Whole,
  failure: Failure,
  number: number,
): Promise<readonly string[]> {
  const disk = diskFor(what)
  try {
    await onDisk(disk, failure.watcher(number), '1', (runtime) => doneBy(what, runtime))
  } catch (error) {
    if (!CaissonError.is(error) || !SAID.includes(error.code))
      return [`${number}: ${String((error as Error).stack)}`]
  }
  return problemsOf(what, disk, `${number}`)
}

/** @returns what is wrong where the power goes before the operation, and comes back */
export async function problemsOfCut(
  what: Whole,
  number: number,
  random: () => number,
): Promise<readonly string[]> {
  const disk = diskFor(what)
  let left: VolatileDisk | undefined
  await onDisk(
    disk,
    {
      before: (operation) => {
        if (operation.number === number) left = disk.afterCut(random)
      },
    },
    '1',
    (runtime) => doneBy(what, runtime),
  )
  return left === undefined ? [] : problemsOf(what, left, `${number}`)
}

/** The run is whole as before, or what was to become of it; and whoever does it again comes to that. */
async function problemsOf(what: Whole, disk: VolatileDisk, where: string): Promise<readonly string[]> {
  const problems: string[] = []
  try {
    await onDisk(disk, {}, '2', async (runtime) => {
      const isThere = await runtime.planRun('r').then(
        () => true,
        (error: unknown) => {
          if (what === 'import' && CaissonError.is(error, 'not_found')) return false
          throw error
        },
      )
      if (isThere) problems.push(...(await problemsOfRun(runtime, 'first')))
      if (!isThere || what !== 'import') await doneBy(what, runtime)
      problems.push(...(await problemsOfRun(runtime, 'again')))
      const { cut, erased } = await runtime.verify('r')
      if (what === 'compact' && cut === undefined) problems.push('it is not cut')
      if (what === 'erase' && erased?.by !== 'carol') problems.push('it is not erased')
    })
  } catch (error) {
    problems.push(String((error as Error).stack))
  }
  return problems.map((problem) => `${what}, operation ${where}: ${problem}`)
}

async function problemsOfRun(runtime: Runtime, when: string): Promise<readonly string[]> {
  const run = await runtime.planRun('r')
  const { status } = await run.view()
  const { ok, difference, erased } = await runtime.verify('r')
  const came = erased === undefined ? await run.outcome() : undefined
  const hasOutput = came === undefined || (came.status === 'completed' && came.output === OUTPUT)
  if (status === 'completed' && ok && hasOutput) return []
  return [
    `${when} it is ${status}, ${difference?.message ?? 'sound'}, and came to ${JSON.stringify(came)?.slice(0, 100)}`,
  ]
}
