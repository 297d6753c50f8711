/** Kept runs in a process of their own that is killed, and what must hold after that: see `killed-run.test.ts`. */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDirectoryRunStore } from '../../host-bindings/store/node/directory-run-store.node.ts'
import { CaissonError, capability, type Outcome, openRuntime } from '../../src/entry/node.ts'
import { bundledChild } from './bundled-child.ts'
import { CALLS } from './paying-program.ts'

const ENGINES = join(import.meta.dirname, '../../engines/')

export interface KilledRuns extends AsyncDisposable {
  /**
   * Runs the program once for each of these operations on the disk, all in one process, which is killed when each run
   * is before its operation, and goes on with them here. @returns what was wrong
   */
  problemsAt(...operations: readonly number[]): Promise<readonly string[]>
  /** As `problemsAt`, for one run that is killed after a time. */
  problemsAfter(ms: number): Promise<readonly string[]>
}

export async function openKilledRuns(): Promise<KilledRuns> {
  const bundle = await bundledChild('run-child')
  const scratch = mkdtempSync(join(tmpdir(), 'caisson-killed-runs-'))
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

async function problemsWith(folder: string, effects: string): Promise<readonly string[]> {
  const store = await openDirectoryRunStore(folder)
  const before = linesOf(effects)
  const after: string[] = []
  const runtime = await openRuntime({
    store,
    capabilities: [
      capability({
        name: 'world.pay',
        description: 'Leaves a line',
        effect: 'write',
        invoke: (args: unknown) => {
          after.push(String(args))
          return Number(args) + 1
        },
      }),
    ],
  })
  const problems: string[] = []
  try {
    const options = { grants: ['world.pay'] }
    let outcome: Outcome = await runtime.resume('r', options)
    if (outcome.status === 'suspended') {
      // Somebody looks whether the payment went out, and says so.
      const [id] = outcome.inDoubt
      const call = outcome.pending.find((one) => one.id === id)
      if (id === undefined || call === undefined) return ['it is suspended, and nothing is in doubt']
      if (after.length > 0) problems.push('it went on beside a call in doubt')
      outcome = await (before.includes(String(call.args))
        ? runtime.resume('r', { ...options, answers: [{ id, value: Number(call.args) + 1 }] })
        : runtime.resume('r', { ...options, confirm: [id] }))
    }
    const value = outcome.status === 'completed' ? JSON.stringify(outcome.value) : JSON.stringify(outcome)
    const expected = JSON.stringify([Array.from({ length: CALLS }, (_, i) => i + 1), true])
    if (value !== expected) problems.push(`it came to ${value}`)
    const paid = [...before, ...after].join()
    if (paid !== Array.from({ length: CALLS }, (_, i) => i).join()) problems.push(`it paid ${paid}`)
  } catch (error) {
    // Killed before the run was announced: there is none, and nothing was done.
    if (!CaissonError.is(error, 'not_found') || before.length > 0)
      problems.push(String((error as Error).stack))
  } finally {
    await runtime.close()
    await store.close()
  }
  return problems
}
