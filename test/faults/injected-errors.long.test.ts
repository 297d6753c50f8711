/**
 * The kernel fails system calls of a process that runs a plan, by strace: real errors, where the library has no hand in
 * them. Whoever goes on with the run finds everything that was acknowledged, and pays nothing twice.
 *
 * Needs strace, and the right to trace: where either is missing, the tests are skipped and counted.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { bundledChild } from './bundled-child.ts'
import { problemsWith } from './killed-plan.ts'

const ENGINES = join(import.meta.dirname, '../../engines/')
const canTrace = spawnSync('strace', ['-qq', '-e', 'trace=none', 'true']).status === 0
const TIMES = 60
const scratch = mkdtempSync(join(tmpdir(), 'caisson-injected-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const FAILURES = [
  ['fdatasync', 'EIO'],
  ['fsync', 'EIO'],
  ['pwrite64', 'ENOSPC'],
  ['renameat2,rename', 'EIO'],
] as const

/** Fails one call of these, the one of that number. @returns whether there was one */
function runPlan(
  bundle: string,
  calls: string,
  errno: string,
  when: number,
  words: readonly string[],
): boolean {
  const log = join(scratch, 'strace.log')
  const inject = `inject=${calls}:error=${errno}:when=${when}`
  const traced = [
    '-f',
    '-qq',
    '-o',
    log,
    '-e',
    `trace=${calls}`,
    '-e',
    inject,
    process.execPath,
    bundle,
    ENGINES,
  ]
  spawnSync('strace', [...traced, ...words], { stdio: 'ignore', timeout: 60_000 })
  return spawnSync('grep', ['-q', 'INJECTED', log]).status === 0
}

it.skipIf(!canTrace).each(FAILURES)(
  '%s fails with %s, once in each run',
  { timeout: 1_800_000 },
  async (calls, errno) => {
    const bundle = await bundledChild('plan-child')
    const problems: string[] = []
    let met = 0
    for (let when = 1; when <= TIMES; when += 1) {
      const store = join(scratch, `${calls}-${when}`)
      const effects = `${store}.effects`
      if (runPlan(bundle, calls, errno, when, [store, effects, '0'])) met += 1
      // One that failed before there was a store left nothing to look at.
      if (existsSync(store)) {
        const found = await problemsWith(store, effects)
        problems.push(...found.map((problem) => `${when}: ${problem}`))
      }
      rmSync(store, { recursive: true, force: true })
    }
    expect(problems.slice(0, 5)).toEqual([])
    // Where the library makes no such call, another one of them is made instead.
    if (calls !== 'fsync') expect(met).toBeGreaterThan(0)
  },
)
