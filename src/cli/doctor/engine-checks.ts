/** The engine: its files as they were built, and a program in it, on this thread and in a Worker. */

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { showCount } from '../../base/show-count.ts'
import { openRuntime } from '../../entry/node.ts'
import { ENGINE_MANIFEST } from '../../isolate/engine-manifest.ts'
import type { Outcome } from '../../runtime/outcome.ts'
import { findPackageRoot } from '../package-root.ts'
import { showDuration } from '../units/parse-duration.ts'
import type { Check } from './check.ts'

const REINSTALL = 'Install the package again; in the repository: npm run build -- --force.'

/** Both profiles' files against the digests in the manifest. */
export async function checkEngineFiles(): Promise<Check> {
  const name = 'engine files'
  const folder = engineFolder()
  const wrong: string[] = []
  for (const [profile, { sha256 }] of Object.entries(ENGINE_MANIFEST.profiles)) {
    const bytes = await readFile(join(folder, `${profile}.wasm`)).catch(() => undefined)
    if (bytes === undefined) wrong.push(`${profile}.wasm is missing`)
    else if (createHash('sha256').update(bytes).digest('hex') !== sha256)
      wrong.push(`${profile}.wasm was changed`)
  }
  return wrong.length === 0
    ? { name, status: 'ok', detail: `${ENGINE_MANIFEST.id}, both profiles as built` }
    : { name, status: 'fail', detail: wrong.join(', '), fix: REINSTALL }
}

function engineFolder(): string {
  const { folder } = findPackageRoot()
  const built = join(folder, 'dist/engines/current')
  return existsSync(built) ? built : join(folder, 'engines/current')
}

/** Runs one program three times: fresh, from the pool, and in a Worker; all must count alike. */
export async function checkPrograms(): Promise<readonly Check[]> {
  try {
    return await selfTest()
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    return [{ name: 'self test', status: 'fail', detail, fix: REINSTALL }]
  }
}

async function selfTest(): Promise<readonly Check[]> {
  const openedAt = performance.now()
  const runtime = await openRuntime()
  try {
    const first = await runtime.run(PROGRAM, OPTIONS)
    const firstMs = performance.now() - openedAt
    const warmAt = performance.now()
    await runtime.run(PROGRAM, OPTIONS)
    const warmMs = performance.now() - warmAt
    const here: Check = isRight(first)
      ? {
          name: 'self test',
          status: 'ok',
          detail: `${showDuration(firstMs)} with loading, then ${showDuration(warmMs)}; ${showCount(first.usage.fuel)} fuel`,
        }
      : { name: 'self test', status: 'fail', detail: `a program ended as ${first.status}`, fix: REINSTALL }
    const workerAt = performance.now()
    const inWorker = await runtime
      .run(PROGRAM, { ...OPTIONS, thread: 'worker' })
      .catch((error: unknown) => error)
    return [here, workerCheck(first, inWorker, performance.now() - workerAt)]
  } finally {
    await runtime.close()
  }
}

const PROGRAM = 'return [1, 2, 3].map((n) => n * 14)[2]'
const OPTIONS = { seed: 1, stateDigest: true, limits: { wallMs: 20_000 } } as const

function isRight(outcome: Outcome): boolean {
  return outcome.status === 'completed' && outcome.value === 42
}

function workerCheck(here: Outcome, there: unknown, elapsedMs: number): Check {
  const name = 'Worker'
  if (there instanceof Error) {
    return { name, status: 'warn', detail: `did not start: ${there.message}`, fix: 'Use --thread host.' }
  }
  const { usage, stateDigest } = there as Outcome
  const alike = usage.fuel === here.usage.fuel && stateDigest === here.stateDigest
  return alike
    ? { name, status: 'ok', detail: `${showDuration(elapsedMs)} with its start; same fuel, same final state` }
    : { name, status: 'fail', detail: 'fuel or final state differ from this thread', fix: REINSTALL }
}
