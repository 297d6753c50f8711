/** Runs of plans in a process of their own that is killed, and what must hold after that: see `killed-plan.test.ts`. */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { openDirectoryRunStore } from '../../host-bindings/store/node/directory-run-store.node.ts'
import {
  CaissonError,
  capability,
  type DoubtAnswer,
  openRuntime,
  type PlanOutcome,
  type PlanRun,
  type Runtime,
} from '../../src/entry/node.ts'
import { bundledChild } from './bundled-child.ts'
import { OUTPUT, PAYMENTS } from './paying-plan.ts'

const ENGINES = join(import.meta.dirname, '../../engines/')
/** More than anything takes: a run that does not end is a problem. */
const MOST_ROUNDS = 20

export interface KilledPlans extends AsyncDisposable {
  /**
   * Runs the plan once for each of these operations on the disk, all in one process, which is killed when each run is
   * before its operation, and goes on with them here. @returns what was wrong
   */
  problemsAt(...operations: readonly number[]): Promise<readonly string[]>
  /** As `problemsAt`, for one run that is killed after a time. */
  problemsAfter(ms: number): Promise<readonly string[]>
}

export async function openKilledPlans(): Promise<KilledPlans> {
  const bundle = await bundledChild('plan-child')
  const scratch = mkdtempSync(join(tmpdir(), 'caisson-killed-plans-'))
  let folders = 0
  const killed = async (operations: readonly number[], ms?: number): Promise<readonly string[]> => {
    const runs = operations.map((operation) => {
      folders += 1
      return { operation, store: join(scratch, `${folders}`), effects: join(scratch, `${folders}.effects`) }
    })
    const words = runs.flatMap(({ store, effects, operation }) => [store, effects, `${operation}`])
    const child = spawn(process.execPath, [bundle, ENGINES, ...words], { stdio: 'ignore' })
    const ended = new Promise<string | null>((resolve) =>
      child.on('close', (_code, signal) => resolve(signal)),
    )
    if (ms !== undefined) setTimeout(() => child.kill('SIGKILL'), ms)
    const signal = await ended
    const problems: string[] = []
    for (const { store, effects, operation } of runs) {
      const found = await problemsWith(store, effects)
      rmSync(store, { recursive: true, force: true })
      problems.push(...found.map((problem) => `${ms ?? operation}: ${problem}`))
    }
    if (ms === undefined && signal !== 'SIGKILL') problems.push(`${operations}: it ended by itself`)
    return problems
  }
  return {
    problemsAt: (...operations) => killed(operations),
    problemsAfter: (ms) => killed([0], ms),
    [Symbol.asyncDispose]: async () => rmSync(scratch, { recursive: true, force: true }),
  }
}

const linesOf = (effects: string): readonly string[] =>
  existsSync(effects) ? readFileSync(effects, 'utf8').split('\n').slice(0, -1) : []

/** What is wrong with the run that a killed process left. */
export async function problemsWith(folder: string, effects: string): Promise<readonly string[]> {
  const store = await openDirectoryRunStore(folder)
  const paid = [...linesOf(effects)]
  const before = paid.length
  const runtime = await openRuntime({
    store,
    capabilities: [
      capability({
        name: 'world.pay',
        description: 'Leaves a line',
        effect: 'write',
        invoke: (args: unknown) => {
          paid.push(String(args))
          return Number(args) + 1
        },
      }),
    ],
  })
  try {
    const outcome = await endOf(runtime, paid)
    const problems: string[] = []
    const came = outcome.status === 'completed' ? outcome.output : outcome
    if (!isDeepStrictEqual(came, OUTPUT)) problems.push(`it came to ${JSON.stringify(came)}`)
    const sorted = paid.map(Number).sort((a, b) => a - b)
    if (sorted.join() !== PAYMENTS.join()) problems.push(`it paid ${paid.join()}, ${before} before`)
    return problems
  } catch (error) {
    // Killed before the proposal was on the disk: there is none, and nothing was done.
    if (CaissonError.is(error, 'not_found') && paid.length === 0) return []
    return [String((error as Error).stack)]
  } finally {
    await runtime.close()
    await store.close()
  }
}

/** People look where it stands, say what they know, and let it go on. */
export async function endOf(runtime: Runtime, paid: readonly string[]): Promise<PlanOutcome> {
  const run = await runtime.planRun('r')
  for (let rounds = 0; rounds < MOST_ROUNDS; rounds += 1) {
    const { status, request, point } = await run.view()
    if (status === 'completed' || status === 'failed') break
    if (status === 'proposed') await run.approve({ by: 'ann', digest: request })
    else if (status === 'approved') await run.start({ by: 'ann' })
    else {
      const open = (await run.requests()).filter(({ decided }) => decided === undefined)
      for (const { digest } of open) await run.decide({ request: digest, by: 'ann', decision: 'approve' })
      if (open.length === 0) await run.resume({ by: 'ann', point, answers: await answersFor(run, paid) })
    }
    await run.outcome()
    if (point === (await run.view()).point) throw new Error(`It does not go on: ${status}.`)
  }
  return run.outcome()
}

async function answersFor(run: PlanRun, paid: readonly string[]): Promise<readonly DoubtAnswer[]> {
  const doubts = (await run.doubts()).filter(({ settled }) => !settled)
  return doubts.map(({ node, call, args }) => {
    const common = { node, call, by: 'ann' }
    return paid.includes(String(args))
      ? { ...common, happened: true as const, value: Number(args) + 1 }
      : { ...common, happened: false as const }
  })
}
