/** Processes that resume kept runs of one store, each when it is told to: see `resuming-child.ts`. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect } from 'vitest'
import { openDirectoryRunStore } from '../../host-bindings/store/node/directory-run-store.node.ts'
import { capability, openRuntime, type RunStore, type Runtime } from '../../src/entry/node.ts'
import { bundledChild } from './bundled-child.ts'

const ENGINES = join(import.meta.dirname, '../../engines/')

/** Resume a run, after a while. */
export interface Order {
  readonly run: string
  readonly delayMs: number
}

/** How it came to rest: a status, or the code of an error. */
export interface Ending {
  readonly run: string
  readonly end: string
  readonly retryAfterMs?: number
}

export interface ResumingProcess {
  /** Numbers of the payments that it made, in order. */
  readonly paid: readonly number[]
  resume(order: Order): Promise<Ending>
  signal(name: NodeJS.Signals): void
}

/** One folder with a store, and what was paid from all processes. */
export interface World extends AsyncDisposable {
  readonly store: RunStore
  /** In this process, which pays too, and loses no run because the machine is busy. */
  readonly runtime: Runtime
  /** @param leaseMs default that of the world */
  start(leaseMs?: number): Promise<ResumingProcess>
  /** Keeps a run with so many payments that waits before its second one. */
  park(run: string, payments: number): Promise<void>
  /** Lets payments of a run be answered. */
  answer(run: string): void
  /** What was paid for a run, in order. */
  paidFor(run: string): readonly number[]
}

export async function openWorld(leaseMs: number): Promise<World> {
  const bundle = await bundledChild('resuming-child')
  const scratch = mkdtempSync(join(tmpdir(), 'caisson-resuming-'))
  const effects = join(scratch, 'effects')
  const folder = join(scratch, 'store')
  const store = await openDirectoryRunStore(folder)
  const pay = capability({
    name: 'world.pay',
    description: 'Leaves a line',
    effect: 'write',
    invoke: (args: unknown) => {
      const { run, n } = args as { readonly run: string; readonly n: number }
      writeFileSync(effects, `${run} ${n}\n`, { flag: 'a' })
      return n + 1
    },
  })
  const options = { capabilities: [pay], store, checkpoints: { every: { calls: 2 } } }
  const runtime = await openRuntime(options)
  const running = new Set<ChildProcess>()
  return {
    store,
    runtime,
    async start(ownLeaseMs = leaseMs) {
      const child = spawn(process.execPath, [bundle, folder, effects, ENGINES, `${ownLeaseMs}`], {
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      running.add(child)
      child.on('close', () => running.delete(child))
      const paid: number[] = []
      const waiting = new Map<string, (ending: Ending) => void>()
      let fail: (error: Error) => void = () => {}
      const died = new Promise<never>((_, reject) => {
        fail = reject
      })
      died.catch(() => {}) // also where nobody waits any more
      child.on('close', () => fail(new Error('The process ended.')))
      const ready = new Promise<void>((resolve) => {
        createInterface({ input: child.stdout }).on('line', (line) => {
          const said = JSON.parse(line) as Ending & { ready?: true; paid?: number }
          if (said.ready === true) resolve()
          else if (said.paid !== undefined) paid.push(said.paid)
          else waiting.get(said.run)?.(said)
        })
      })
      await Promise.race([ready, died])
      return {
        paid,
        resume(order) {
          const ending = new Promise<Ending>((resolve) => {
            waiting.set(order.run, resolve)
            child.stdin.write(`${JSON.stringify(order)}\n`)
          })
          return Promise.race([ending, died])
        },
        signal: (name) => child.kill(name),
      }
    },
    async park(run, payments) {
      const source = `
        const said = []
        for (let n = 0; n < ${payments}; n++) said.push(await world.pay({ run: ${JSON.stringify(run)}, n }))
        return said.join()`
      const parked = await runtime.run(source, { run, grants: ['world.pay'], stopAtCall: 2 })
      expect(parked.status).toBe('suspended')
    },
    answer: (run) => writeFileSync(`${effects}.${run}`, ''),
    paidFor: (run) =>
      (existsSync(effects) ? readFileSync(effects, 'utf8').split('\n') : [])
        .filter((line) => line.startsWith(`${run} `))
        .map((line) => Number(line.split(' ')[1])),
    async [Symbol.asyncDispose]() {
      const gone = [...running].map((child) => new Promise((resolve) => child.on('close', resolve)))
      for (const child of running) child.kill('SIGKILL')
      await Promise.all(gone)
      await runtime.close()
      await store.close()
      rmSync(scratch, { recursive: true, force: true })
    },
  }
}
