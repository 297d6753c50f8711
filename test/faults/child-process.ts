/** Starts `store-child.ts` in processes of its own, bundled once so that each starts within a blink. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'

export interface StoreChild {
  /** What it said so far, line by line. */
  readonly lines: readonly unknown[]
  /** Resolves when it has ended, with the signal that did it and what it wrote to standard error. */
  readonly ended: Promise<{ readonly signal: string | null; readonly errors: string }>
  /** Resolves when it said its first line, or ended. */
  readonly started: Promise<unknown>
  kill(): void
}

export interface StoreChildren extends AsyncDisposable {
  /** A new, empty folder. */
  folder(): string
  /** @param place as `openStoreAt` takes it */
  start(mode: string, place: string, number?: number): StoreChild
}

/** Inside the repository: what is not bundled is found from there. */
const BUNDLES = join(import.meta.dirname, '../../.cache/children')
/** Drivers of databases. */
const NOT_BUNDLED = ['better-sqlite3', 'pg']

/** Bundles the child. Disposing ends children that still run, and removes folders. */
export async function openStoreChildren(): Promise<StoreChildren> {
  const scratch = mkdtempSync(join(tmpdir(), 'caisson-children-'))
  mkdirSync(BUNDLES, { recursive: true })
  const bundle = mkdtempSync(join(BUNDLES, 'child-'))
  const outfile = join(bundle, 'store-child.mjs')
  const running = new Set<ChildProcess>()
  let folders = 0
  await build({
    entryPoints: [join(import.meta.dirname, 'store-child.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: NOT_BUNDLED,
    logLevel: 'error',
  })
  return {
    folder: () => {
      folders += 1
      return join(scratch, `${folders}`)
    },
    start: (mode, place, number = 0) => {
      const child = spawn(process.execPath, [outfile, mode, place, `${number}`], { stdio: 'pipe' })
      running.add(child)
      const lines: unknown[] = []
      let errors = ''
      let rest = ''
      let hasStarted = (): void => {}
      const started = new Promise<void>((resolve) => {
        hasStarted = resolve
      })
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        const parts = (rest + text).split('\n')
        rest = parts.pop() ?? ''
        for (const part of parts) lines.push(JSON.parse(part))
        hasStarted()
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
      for (const folder of [scratch, bundle]) rmSync(folder, { recursive: true, force: true })
    },
  }
}
