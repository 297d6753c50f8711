/** Runs in processes of their own that are killed, and what must hold after that. */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDirectoryRunStore } from '../../host-bindings/store/node/directory-run-store.node.ts'
import { openRuntime, type Runtime } from '../../src/entry/node.ts'
import { bundledChild } from './bundled-child.ts'
import { payingWorld } from './paying-world.ts'

const ENGINES = join(import.meta.dirname, '../../engines/')

export interface KilledChildren extends AsyncDisposable {
  /**
   * Begins a run for each of these operations on the disk, all in one process, which is killed when each run is before
   * its operation, and goes on with them here. @returns what was wrong
   */
  problemsAt(...operations: readonly number[]): Promise<readonly string[]>
  /** As `problemsAt`, for one run that is killed after a time. */
  problemsAfter(ms: number): Promise<readonly string[]>
}

/** Goes on with the run that a process left. @param paid what went out so far, to which is added. @returns what was wrong */
export type GoOn = (runtime: Runtime, paid: readonly string[]) => Promise<readonly string[]>

/** @param child the program of the processes: see `dying-child.ts` */
export async function openKilledChildren(child: string, goOn: GoOn): Promise<KilledChildren> {
  const bundle = await bundledChild(child)
  const scratch = mkdtempSync(join(tmpdir(), `caisson-${child}-`))
  let folders = 0
  const killed = async (operations: readonly number[], ms?: number): Promise<readonly string[]> => {
    const runs = operations.map((operation) => {
      folders += 1
      return { operation, store: join(scratch, `${folders}`), effects: join(scratch, `${folders}.effects`) }
    })
    const words = runs.flatMap(({ store, effects, operation }) => [store, effects, `${operation}`])
    const signal = await endOfProcess([bundle, ENGINES, ...words], ms)
    const problems: string[] = []
    for (const { store, effects, operation } of runs) {
      const found = await problemsOfRun(store, effects, goOn)
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

/** @returns the signal that ended it */
function endOfProcess(words: readonly string[], killedAfterMs: number | undefined): Promise<string | null> {
  const child = spawn(process.execPath, words, { stdio: 'ignore' })
  if (killedAfterMs !== undefined) setTimeout(() => child.kill('SIGKILL'), killedAfterMs)
  return new Promise((resolve) => child.on('close', (_code, signal) => resolve(signal)))
}

/** What is wrong with the run that a process left in a store. @param effects the file of its payments */
export async function problemsOfRun(folder: string, effects: string, goOn: GoOn): Promise<readonly string[]> {
  const store = await openDirectoryRunStore(folder)
  const paid = existsSync(effects) ? readFileSync(effects, 'utf8').split('\n').slice(0, -1) : []
  const runtime = await openRuntime({ store, capabilities: [payingWorld((amount) => paid.push(amount))] })
  try {
    return await goOn(runtime, paid)
  } finally {
    await runtime.close()
    await store.close()
  }
}
