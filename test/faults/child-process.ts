/** Starts `store-child.ts` in processes of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundledChild } from './bundled-child.ts'

/** What a process does in one place. */
export interface Task {
  /** As `openStoreAt` takes it. */
  readonly place: string
  /** What it means depends on the mode. */
  readonly number?: number
}

export interface StoreChild {
  /** What it said so far for each of its tasks. */
  readonly lines: readonly (readonly unknown[])[]
  /** Resolves when it has ended, with the signal that did it and what it wrote to standard error. */
  readonly ended: Promise<{ readonly signal: string | null; readonly errors: string }>
  /** Resolves when it said something for each of its tasks, or ended. */
  readonly started: Promise<unknown>
  kill(): void
}

export interface StoreChildren extends AsyncDisposable {
  /** A new, empty folder. */
  folder(): string
  /** @param tasks which one process does at once */
  start(mode: string, ...tasks: readonly Task[]): StoreChild
}

/** Bundles the child. Disposing ends children that still run, and removes folders. */
export async function openStoreChildren(): Promise<StoreChildren> {
  const bundle = await bundledChild('store-child')
  const scratch = mkdtempSync(join(tmpdir(), 'caisson-children-'))
  const running = new Set<ChildProcess>()
  let folders = 0
  return {
    folder: () => {
      folders += 1
      return join(scratch, `${folders}`)
    },
    start: (mode, ...tasks) => {
      const words = tasks.flatMap(({ place, number = 0 }) => [place, `${number}`])
      const child = spawn(process.execPath, [bundle, mode, ...words], { stdio: 'pipe' })
      running.add(child)
      const lines: unknown[][] = tasks.map(() => [])
      let errors = ''
      let rest = ''
      let hasStarted = (): void => {}
      const started = new Promise<void>((resolve) => {
        hasStarted = resolve
      })
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        const parts = (rest + text).split('\n')
        rest = parts.pop() ?? ''
        for (const part of parts) {
          const [task, line] = JSON.parse(part) as [task: number, line: unknown]
          lines[task]?.push(line)
        }
        if (lines.every((said) => said.length > 0)) hasStarted()
      })
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        errors += text
      })
      const ended = new Promise<{ signal: string | null; errors: string }>((resolve) => {
        child.on('close', (_code, signal) => {
          running.delete(child)
          hasStarted()
          resolve({ signal, errors })
        })
      })
      return { lines, ended, started, kill: () => child.kill('SIGKILL') }
    },
    async [Symbol.asyncDispose]() {
      const gone = [...running].map((child) => new Promise((resolve) => child.on('close', resolve)))
      for (const child of running) child.kill('SIGKILL')
      await Promise.all(gone)
      rmSync(scratch, { recursive: true, force: true })
    },
  }
}
