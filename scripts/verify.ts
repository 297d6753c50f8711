/**
 * Everything that must hold before a change is merged, in one command.
 *
 *     npm run verify                              all steps
 *     npm run verify -- --skip tests              all but these (comma-separated)
 *     npm run verify -- --only types,layers       these alone
 *
 * Each step is an npm script of its own. All steps run, also after one has failed; what a failed step
 * printed follows its line. One line per step, the same on a terminal and in a pipe.
 */
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { runCommand } from './run-command.ts'

interface Step {
  readonly name: string
  readonly script: string
  readonly what: string
}

const STEPS: readonly Step[] = [
  { name: 'format', script: 'check:format', what: 'formatting and lint (biome)' },
  {
    name: 'lint',
    script: 'check:lint',
    what: 'lint with types: floating promises, exhaustive switches (oxlint)',
  },
  { name: 'types', script: 'check:types', what: 'all types' },
  { name: 'neutral', script: 'check:neutral', what: 'the core without Node types' },
  { name: 'layers', script: 'check:layers', what: 'direction of imports, no cycles' },
  { name: 'dead', script: 'check:dead', what: 'unused files, exports and dependencies' },
  { name: 'build', script: 'build', what: 'engine and package' },
  { name: 'tests', script: 'test', what: 'all but the long tests' },
  { name: 'package', script: 'check:package', what: 'the package as others see it (publint)' },
  { name: 'exports', script: 'check:exports', what: 'its types as others see them (attw)' },
  { name: 'size', script: 'check:size', what: 'what a page downloads' },
]

const ROOT = join(import.meta.dirname, '..')

const chosen = chooseSteps(process.argv.slice(2))
const failed: string[] = []
const started = performance.now()
for (const step of chosen) {
  const { code, output, elapsedMs } = await runCommand('npm', ['run', '--silent', step.script], {
    cwd: ROOT,
    timeoutMs: 30 * 60_000,
    env: { NO_COLOR: '1', FORCE_COLOR: undefined },
  })
  const mark = code === 0 ? 'ok    ' : 'FAILED'
  process.stdout.write(`${mark} ${step.name.padEnd(8)} ${seconds(elapsedMs)}  ${step.what}\n`)
  if (code !== 0) {
    failed.push(step.name)
    process.stdout.write(`${indented(output)}\n`)
  }
}
const total = `${chosen.length - failed.length} of ${chosen.length} steps passed in${seconds(performance.now() - started)}`
process.stdout.write(failed.length === 0 ? `\n${total}\n` : `\n${total}; failed: ${failed.join(', ')}\n`)
process.exitCode = failed.length === 0 ? 0 : 1

function chooseSteps(args: readonly string[]): readonly Step[] {
  const [option, list, ...rest] = args
  if (option === undefined) return STEPS
  const names = (list ?? '').split(',')
  const unknown = names.filter((name) => !STEPS.some((step) => step.name === name))
  if (!['--only', '--skip'].includes(option) || rest.length > 0 || unknown.length > 0) {
    process.stderr.write(
      `usage: npm run verify [-- --only|--skip STEP,...]\nsteps: ${STEPS.map((step) => step.name).join(', ')}\n`,
    )
    process.exit(2)
  }
  return STEPS.filter((step) => names.includes(step.name) === (option === '--only'))
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1).padStart(6)} s`
}

function indented(text: string): string {
  // Some tools colour their output in CI whatever they are told.
  return stripVTControlCharacters(text)
    .trimEnd()
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n')
}
