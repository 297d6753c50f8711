/**
 * Takes the named defences out one by one and demands that the tests notice each time.
 *
 *     npm run test:defences                 all of test/defences.ts
 *     npm run test:defences -- NAME...      these alone
 *
 * A guard that no test misses is a guard that the next change can lose. Works on a copy of the tree in
 * the system's temporary folder; the working tree is never touched.
 *
 * Invariants:
 * 1. The tests pass with every defence in place; otherwise a failure would prove nothing.
 * 2. Only a failed test counts as noticed, not a file that no longer loads.
 * 3. A hang counts only where the entry says that it may.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DEFENCES } from '../test/defences.ts'
import { type Defence, mismatch, takeOut } from './defence.ts'
import { runCommand } from './run-command.ts'

/** Vitest starts in about a second, and the named tests take seconds; a minute and a half is a hang. */
const HANG_MS = 90_000
const ROOT = join(import.meta.dirname, '..')

const chosen = chooseDefences(process.argv.slice(2))
const outdated = chosen.flatMap((defence) => {
  const reason = mismatch(defence, readFileSync(join(ROOT, defence.file), 'utf8'))
  return reason === undefined ? [] : [`${defence.name}: ${reason}`]
})
if (outdated.length > 0) fail(outdated.join('\n'))

const copy = mkdtempSync(join(tmpdir(), 'caisson-defences-'))
process.once('SIGINT', () => {
  rmSync(copy, { recursive: true, force: true })
  process.exit(130)
})
try {
  await copyTree()
  const whole = await runTests([...new Set(chosen.flatMap(({ tests }) => tests))], 10 * HANG_MS)
  if (whole.code !== 0) {
    const reason = firstFailedTest() ?? loadFailure() ?? whole.output.trim().slice(-2_000)
    throw new Error(`With every defence in place: ${reason}`)
  }
  process.stdout.write(`ok      all defences in place ${seconds(whole.elapsedMs)}\n`)
  let unnoticed = 0
  for (const defence of chosen) {
    const started = performance.now()
    const { noticed, how } = await runWithout(defence)
    if (!noticed) unnoticed++
    const mark = noticed ? 'noticed' : 'MISSED '
    const elapsed = seconds(performance.now() - started)
    process.stdout.write(`${mark} ${defence.name.padEnd(36)} ${elapsed}  ${how}\n`)
  }
  process.stdout.write(`\n${chosen.length} defences, ${unnoticed} could be removed unnoticed\n`)
  process.exitCode = unnoticed === 0 ? 0 : 1
} catch (error) {
  process.stderr.write(`FAILED  ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
} finally {
  rmSync(copy, { recursive: true, force: true })
}

async function runWithout(defence: Defence): Promise<{ noticed: boolean; how: string }> {
  const path = join(copy, defence.file)
  const original = readFileSync(path, 'utf8')
  writeFileSync(path, takeOut(defence, original))
  try {
    await rebuild(defence)
    const { code } = await runTests(defence.tests, HANG_MS)
    if (code === 124) {
      return {
        noticed: defence.mayHang === true,
        how: `the tests hang${defence.mayHang ? '' : ', and must not'}`,
      }
    }
    const failed = firstFailedTest()
    if (failed !== undefined) return { noticed: true, how: failed }
    const failure = loadFailure() ?? 'for no reason that vitest names'
    return { noticed: false, how: code === 0 ? 'every test passes' : `no test could run: ${failure}` }
  } finally {
    writeFileSync(path, original)
    await rebuild(defence)
  }
}

function runTests(tests: readonly string[], timeoutMs: number): ReturnType<typeof runCommand> {
  const args = ['run', '--bail=1', '--reporter=json', '--outputFile=report.json', ...tests]
  rmSync(join(copy, 'report.json'), { force: true })
  return runCommand(process.execPath, [join(copy, 'node_modules/vitest/vitest.mjs'), ...args], {
    cwd: copy,
    timeoutMs,
  })
}

interface ReportedFile {
  readonly name: string
  readonly message: string
  readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[]
}

function reportedFiles(): readonly ReportedFile[] {
  // None where vitest could not begin.
  if (!existsSync(join(copy, 'report.json'))) return []
  const report = JSON.parse(readFileSync(join(copy, 'report.json'), 'utf8')) as {
    testResults: ReportedFile[]
  }
  return report.testResults
}

/** File and name of the first test that failed in the last run. */
function firstFailedTest(): string | undefined {
  for (const file of reportedFiles()) {
    const failed = file.assertionResults.find(({ status }) => status === 'failed')
    if (failed) return `${file.name.slice(copy.length + 1)}: ${failed.fullName}`
  }
  return undefined
}

/** Why a file of the last run could not be loaded, in one line. */
function loadFailure(): string | undefined {
  const messages = reportedFiles().map(({ message }) => message.trim().split('\n')[0] ?? '')
  return messages.find((message) => message !== '')
}

async function rebuild(defence: Defence): Promise<void> {
  if (defence.rebuild === undefined) return
  const commands = [['run', '--silent', 'build']]
  // The build refuses an engine that is not the committed one; here it is meant to be another.
  if (defence.rebuild === 'engine') commands.unshift(['run', '--silent', 'build:engine', '--', '--accept'])
  for (const args of commands) {
    const { code, output } = await runCommand('npm', args, { cwd: copy })
    if (code !== 0) throw new Error(`${defence.name}: the build fails:\n${output.slice(-2_000)}`)
  }
}

/** Everything that git would commit, with the built parts; node_modules and the browser are shared. */
async function copyTree(): Promise<void> {
  const list = await runCommand('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
  })
  if (list.code !== 0) throw new Error(`git ls-files: ${list.output}`)
  const files = list.stdout.split('\0').filter((file) => file !== '')
  for (const file of [...files, 'engines', 'dist', '.cache/build']) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    // What is listed and gone was deleted in the working tree.
    copyIfThere(join(ROOT, file), join(copy, file))
  }
  for (const shared of ['node_modules', '.cache/chromium']) {
    // A browser that is fetched in the copy stays: a link to nowhere would have no place for it.
    mkdirSync(join(ROOT, shared), { recursive: true })
    symlinkSync(join(ROOT, shared), join(copy, shared))
  }
}

function copyIfThere(from: string, to: string): void {
  try {
    cpSync(from, to, { recursive: true, verbatimSymlinks: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

function chooseDefences(names: readonly string[]): readonly Defence[] {
  const unknown = names.filter((name) => !DEFENCES.some((defence) => defence.name === name))
  if (unknown.length > 0) fail(`no such defence: ${unknown.join(', ')}`)
  return names.length === 0 ? DEFENCES : DEFENCES.filter(({ name }) => names.includes(name))
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1).padStart(6)} s`
}
