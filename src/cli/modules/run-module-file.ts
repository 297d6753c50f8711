/** What `caisson run` does with a WebAssembly file, or a script in another language than JavaScript. */
import { basename } from 'node:path'
import { CaissonError } from '../../base/errors.ts'
import { escapeText } from '../../base/escape-text.ts'
import { type BinaryKind, inspectBinary } from '../../component/core/inspect-binary.ts'
import type { ModuleResult } from '../../component/module/module-end.ts'
import { parseLimits } from '../../machine/limits.ts'
import type { ModuleOutcome, RunModuleOptions } from '../../runtime/wasi/module-options.ts'
import { CliError } from '../cli-error.ts'
import type { CliIo, CliOutput } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { findPackageRoot } from '../package-root.ts'
import { jsonText } from '../render/json-text.ts'
import { nextStep, type RunFacts } from '../render/next-step.ts'
import { runEnding, runSummary } from '../render/run-ending.ts'
import { styleFor } from '../render/style.ts'
import { exitOf } from '../run/exit-of.ts'
import { grantRights } from '../run/grant-rights.ts'
import { inRuntime } from '../run/in-runtime.ts'
import { interruptibly } from '../run/interruption.ts'
import { readLimits } from '../run/limit-flags.ts'
import { runDocument } from '../run/run-document.ts'
import { readClock, readThread } from '../run/run-plan.ts'
import { ToolFailures } from '../run/tool-failures.ts'
import { parseCount } from '../units/parse-count.ts'
import { moduleDirectories } from './module-directories.ts'
import { openPreparedCache } from './prepared-cache.ts'
import { readEnv, readFileBytes, readStdin } from './read-module-input.ts'
import type { ModuleToRun } from './script-language.ts'
import { scriptLanguageOf, scriptModule } from './script-module.ts'

/** Flags that only programs in JavaScript have. */
const OTHERS = [
  'input',
  'at-end',
  'store',
  'checkpoint',
  'stop-at-call',
  'name',

  'allow-net',
] as const

/** @returns the exit code. @throws CliError */
export async function runModuleFile(given: GivenFlags, io: CliIo): Promise<number> {
  return interruptibly(given, io, async (interruption) => {
    const [file = ''] = given.positionals
    for (const flag of OTHERS) if (given.has(flag)) throw notForModules(flag)
    if (readThread(given.value('thread'), 'run') === 'worker') throw notForModules('thread worker')
    const language = scriptLanguageOf(file)
    const limits = parseLimits({ ...language?.limits, ...readLimits(given, 'run') })
    const seed = given.value('seed')
    const env = readEnv(given.values('env'))
    const bytes = await readFileBytes(file, 'program', io)
    const program =
      language === undefined
        ? moduleOf(file, bytes, given.rest)
        : await scriptModule(language, { file, script: bytes, args: given.rest, cwd: io.cwd })
    const stdin = await readStdin(given.value('stdin'), io)
    const withoutDirectories = {
      ...given,
      values: (name: string) => (name.startsWith('allow-') ? [] : given.values(name)),
    }
    const rights = await grantRights(withoutDirectories, [], io.cwd)
    const failures = new ToolFailures(rights.tools, findPackageRoot().code)
    try {
      const directories = await moduleDirectories(given, file, io.cwd)
      const cache = await openPreparedCache()
      const options: RunModuleOptions = {
        ...program.options,
        env: { ...program.options.env, ...env },
        stdin,
        directories: { ...program.options.directories, ...directories },
        grants: rights.grants,
        limits,
        signal: interruption.signal,
        stateDigest: given.has('json'),
        onProgress: progressOf(io, escapeText(basename(file))),
        ...(cache && { cache }),
        ...(seed !== undefined && { seed: parseCount('seed', seed, '1') }),
      }
      const setting = {
        options: {
          capabilities: rights.capabilities,
          clock: readClock(given.value('now')),
          onCapabilityError: failures.add.bind(failures),
        },
        memoryBytes: limits.memoryBytes,
        thread: 'host',
        progress: `running ${escapeText(basename(file))}`,
      } as const
      const outcome = await inRuntime(setting, io, (runtime) =>
        runtime.runModule(program.module, options).catch((error: unknown) => {
          throw moduleRefusal(error)
        }),
      )
      const facts = { source: '', limits, withheld: rights.withheld }
      return tell(outcome, facts, failures, given.has('json'), io)
    } finally {
      await rights.close()
    }
  })
}

/** @throws CliError for what is no module; components are run by their exports, and not here */
function moduleOf(file: string, bytes: Uint8Array, args: readonly string[]): ModuleToRun {
  const kind = kindOf(bytes)
  if (kind === 'component') {
    throw new CliError({
      exit: EXIT.refusedInput,
      code: 'invalid_module',
      message: 'This is a component, and not a module with a `_start`.',
      hint: 'Open it with runtime.openComponent, which calls its exports.',
    })
  }
  return { module: bytes, options: { name: basename(file), args } }
}

/** Codes that say that it is the file. */
const REFUSED: ReadonlySet<string> = new Set([
  'invalid_module',
  'invalid_component',
  'unsupported_feature',
  'missing_imports',
])

function moduleRefusal(error: unknown): unknown {
  if (!CaissonError.is(error) || !REFUSED.has(error.code)) return error
  return new CliError({ exit: EXIT.refusedInput, code: error.code, message: error.message, cause: error })
}

/** @throws CliError for what is no WebAssembly */
function kindOf(bytes: Uint8Array): BinaryKind {
  try {
    return inspectBinary(bytes).kind
  } catch (error) {
    throw moduleRefusal(error)
  }
}

/** Once a module is large enough that one waits for it. */
function progressOf(io: CliIo, name: string): (done: number) => void {
  if (!io.stderr.isTerminal) return () => {}
  return (done) =>
    io.stderr.write(`\r\x1b[Kpreparing ${name} · ${Math.round(done * 100)} %${done >= 1 ? '\r\x1b[K' : ''}`)
}

function tell(
  outcome: ModuleOutcome,
  facts: RunFacts,
  failures: ToolFailures,
  json: boolean,
  io: CliIo,
): ExitCode {
  const { stdout, stderr } = io
  const style = styleFor(stderr)
  const said = outcome.status === 'completed' ? (outcome.value as ModuleResult) : outcome.output
  if (json) {
    const hint = nextStep(outcome, facts)
    const shown =
      outcome.status === 'completed' ? { ...outcome, value: textual(outcome.value as ModuleResult) } : outcome
    stdout.write(`${jsonText(runDocument(shown, hint))}\n`)
  } else if (said !== undefined) {
    stdout.write(textFor(said.stdout, stdout))
    stderr.write(textFor(said.stderr, stderr))
  }
  stderr.write(failures.text(style))
  if (outcome.status !== 'completed') stderr.write(runEnding(outcome, facts, stderr.columns, style))
  if (stderr.isTerminal) stderr.write(runSummary(outcome, stderr.columns, style))
  const failed = outcome.status === 'completed' && (outcome.value as ModuleResult).exitCode !== 0
  return failed ? EXIT.failed : exitOf(outcome)
}

/** With texts where bytes are UTF-8. */
function textual({ exitCode, stdout, stderr, files }: ModuleResult): Readonly<Record<string, unknown>> {
  return { exitCode, stdout: textOrBytes(stdout), stderr: textOrBytes(stderr), files }
}

function textOrBytes(bytes: Uint8Array): string | Uint8Array {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return bytes
  }
}

/** As it is, for a file or a pipe; a terminal obeys nothing that stands in it. */
function textFor(bytes: Uint8Array, { isTerminal }: CliOutput): string {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  return isTerminal ? escapeText(text, 'lines') : text
}

function notForModules(flag: string): CliError {
  return new CliError({
    exit: EXIT.usage,
    code: 'usage',
    message: `--${flag} is for programs in JavaScript; modules and scripts in other languages do not have it here.`,
    hint: 'caisson run --help',
  })
}
