/** A kept run in a process of its own that is killed, and what must hold after that: see `killed-run.test.ts`. */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { openDirectoryRunStore } from '../../host-bindings/store/node/directory-run-store.node.ts'
import { CaissonError, capability, type Outcome, openRuntime } from '../../src/entry/node.ts'
import { CALLS } from './paying-program.ts'

const ENGINES = join(import.meta.dirname, '../../engines/')

export interface KilledRuns extends AsyncDisposable {
  /**
   * Runs the program in a process that is killed before an operation on the disk, or after a time, and goes on with
   * it here. @returns what was wrong
   */
  problemsAfter(kill: { readonly operation: number } | { readonly ms: number }): Promise<readonly string[]>
}

/** Bundles the child once. */
export async function openKilledRuns(): Promise<KilledRuns> {
  const scratch = mkdtempSync(join(tmpdir(), 'caisson-killed-runs-'))
  const outfile = join(scratch, 'run-child.mjs')
  await build({
    entryPoints: [join(import.meta.dirname, 'run-child.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'error',
  })
  let folders = 0
  return {
    async problemsAfter(kill) {
      folders += 1
      const store = join(scratch, `${folders}`)
      const effects = join(scratch, `${folders}.effects`)
      const operation = 'operation' in kill ? kill.operation : 0
      const child = spawn(process.execPath, [outfile, store, effects, ENGINES, `${operation}`], {
        stdio: 'ignore',
      })
      const ended = new Promise<string | null>((resolve) =>
        child.on('close', (_code, signal) => resolve(signal)),
      )
      if ('ms' in kill) setTimeout(() => child.kill('SIGKILL'), kill.ms)
      const signal = await ended
      const problems = [...(await problemsWith(store, effects))]
      if ('operation' in kill && signal !== 'SIGKILL') problems.push('it ended by itself')
      rmSync(store, { recursive: true, force: true })
      return problems.map((problem) => `${JSON.stringify(kill)}: ${problem}`)
    },
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
