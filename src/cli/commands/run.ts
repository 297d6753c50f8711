/** `caisson run`: one program, once, under limits and with the rights that the flags give. */

import { CaissonError } from '../../base/errors.ts'
import { escapeText } from '../../base/escape-text.ts'
import { showCount } from '../../base/show-count.ts'
import { openRuntime } from '../../entry/node.ts'
import { DEFAULT_LIMITS } from '../../machine/limits.ts'
import type { Outcome } from '../../runtime/outcome.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import type { Command, GivenFlags } from '../command.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { findPackageRoot } from '../package-root.ts'
import { consoleLines } from '../render/console-lines.ts'
import { jsonText } from '../render/json-text.ts'
import { nextStep } from '../render/next-step.ts'
import { runEnding, runSummary } from '../render/run-ending.ts'
import { showValue } from '../render/show-value.ts'
import { styleFor } from '../render/style.ts'
import { hangText } from '../render/wrap-text.ts'
import { exitOf } from '../run/exit-of.ts'
import { Interruption } from '../run/interruption.ts'
import { showProgress } from '../run/progress-line.ts'
import { refusedDocument, runDocument } from '../run/run-document.ts'
import { planRun, type RunPlan } from '../run/run-plan.ts'
import { ToolFailures } from '../run/tool-failures.ts'
import { showDuration } from '../units/parse-duration.ts'
import { showSize } from '../units/parse-size.ts'

/** What the runtime allows at least; more where a flag asks for more. */
const MOST_MEMORY = 256 * 1024 * 1024

/** As flags take them, from the library's own. */
const DEFAULTS = {
  fuel: showCount(DEFAULT_LIMITS.fuel).replaceAll(',', '_'),
  memory: showSize(DEFAULT_LIMITS.memoryBytes).replace(' ', ''),
  timeout: showDuration(DEFAULT_LIMITS.wallMs).replace(' ', ''),
  stack: showSize(DEFAULT_LIMITS.stackBytes).replace(' ', ''),
  calls: showCount(DEFAULT_LIMITS.calls).replaceAll(',', '_'),
}

export const runCommand: Command = {
  name: 'run',
  summary: 'run one program in the sandbox, with exactly the rights that you grant',
  usage: 'run FILE [flags]',
  description: [
    'Runs FILE (JavaScript; "-" is standard input) and prints its value. A program is a script whose last expression is the value, a function body with await and return, or a module with a default export. It sees the value of --input as the global `input`, and nothing of this machine but what the flags grant.',
  ],
  positionals: { name: 'FILE', min: 1, max: 1 },
  groups: [
    {
      title: 'What goes in',
      flags: [
        {
          name: 'input',
          value: 'JSON|@file',
          help: 'The global `input` of the program, as JSON or in a file (@- is standard input). Values beyond JSON in tagged form, as --json prints them.',
        },
        {
          name: 'seed',
          value: 'N',
          help: 'Decides all randomness, so that runs can be repeated. Default: fresh.',
        },
        {
          name: 'now',
          value: 'ISO',
          help: 'The time in the program, for example 2026-01-01T00:00:00Z; it stands still. Deadlines still hold. Default: the clock.',
        },
      ],
    },
    {
      title: 'Rights (default: none)',
      flags: [
        {
          name: 'tools',
          value: 'MODULE',
          help: 'A module whose default export is a list of capabilities. It is code that you trust: it runs outside the sandbox with all your rights. It grants nothing by itself.',
        },
        {
          name: 'grant',
          value: 'NAME',
          repeatable: true,
          help: 'Grants one capability of --tools by its name.',
        },
        {
          name: 'allow-net',
          value: 'HOST',
          repeatable: true,
          help: 'GET and HEAD requests to this host with net.fetch: api.example.com, "*.example.com", example.com:8443. Private addresses only when written out with their port: localhost:8080.',
        },
        {
          name: 'allow-read',
          value: 'DIR',
          repeatable: true,
          help: 'Reading below this directory with files.*: paths are relative to it. Several directories stand side by side under their names.',
        },
        {
          name: 'allow-write',
          value: 'DIR',
          repeatable: true,
          help: 'Also writing and removing there, up to 64 MiB more. Must not overlap the program, the tools, or modules that they load.',
        },
      ],
    },
    {
      title: 'Limits',
      flags: [
        {
          name: 'fuel',
          value: 'N',
          help: `Work, counted exactly: about 2 to 35 million units pass in a millisecond. Default ${DEFAULTS.fuel}.`,
        },
        {
          name: 'memory',
          value: '32MiB',
          help: `Memory of the program, engine included. Default ${DEFAULTS.memory}, at least 1MiB.`,
        },
        {
          name: 'timeout',
          value: '5s',
          help: `Time in which the program computes or its calls work: 100ms, 5s, 2m. Default ${DEFAULTS.timeout}.`,
        },
        {
          name: 'stack',
          value: '1MiB',
          help: `Depth of recursion; a call takes 1 to 6 KiB. Default ${DEFAULTS.stack}.`,
        },
        { name: 'calls', value: 'N', help: `Calls of granted capabilities. Default ${DEFAULTS.calls}.` },
      ],
    },
    {
      title: 'How it runs',
      flags: [
        {
          name: 'thread',
          value: 'worker|host',
          help: 'worker (default): beside this thread, so that Ctrl-C ends it cleanly and the elapsed time is shown. host: on it, where the time moves only between turns and Ctrl-C kills the process. Values, fuel and digests are the same.',
        },
      ],
    },
  ],
  examples: [
    ['caisson run p.js', 'print the value of a program'],
    [
      `caisson run p.js --input '{"n": 5}' --json`,
      'as one JSON document, with fuel and a digest of the final state',
    ],
    ['caisson run p.js --tools ./tools.js --grant prices.lookup', 'let it call one of your functions'],
    ['caisson run p.js --allow-read data --allow-write out', 'let it read data/ and write to out/'],
    ['caisson run p.js --seed 1 --now 2026-01-01T00:00:00Z --json', 'the same result every time'],
    ['caisson run p.js --fuel 1e9 --memory 16MiB --timeout 500ms', 'with tight limits'],
  ],
  refusal: refusedDocument,
  run: runProgram,
}

async function runProgram(given: GivenFlags, io: CliIo): Promise<number> {
  const interruption = new Interruption()
  // On the host's thread no listener could run inside a turn: there the signal itself ends the process.
  const ignore = given.value('thread') === 'host' ? () => {} : io.onInterrupt(() => interruption.interrupt())
  try {
    const plan = await interruption.during(planRun(given, io))
    const failures = new ToolFailures(plan.rights.tools, findPackageRoot().code)
    try {
      hintAtGrants(plan, io)
      const outcome = await runPlan(plan, failures, interruption.signal, io)
      io.stderr.write(consoleLines(outcome.logs, outcome.usage.logsDropped, styleFor(io.stderr)))
      io.stderr.write(failures.text(styleFor(io.stderr)))
      return report(outcome, plan, given.has('json'), interruption.signal.aborted, io)
    } finally {
      await plan.rights.close()
    }
  } finally {
    ignore()
  }
}

async function runPlan(
  plan: RunPlan,
  failures: ToolFailures,
  signal: AbortSignal,
  io: CliIo,
): Promise<Outcome> {
  const { program, limits, rights } = plan
  const endProgress = showProgress(io.stderr, `running ${program.fileName}`)
  try {
    const runtime = await openRuntime({
      capabilities: rights.capabilities,
      clock: plan.clock,
      maxMemoryBytes: Math.max(MOST_MEMORY, limits.memoryBytes),
      onCapabilityError: (failure) => failures.add(failure),
    })
    try {
      return await runtime.run(program.source, {
        input: plan.input,
        grants: rights.grants,
        limits,
        signal,
        fileName: program.fileName,
        stateDigest: true,
        thread: await openThread(runtime, plan.thread),
        ...(plan.seed !== undefined && { seed: plan.seed }),
      })
    } finally {
      runtime.close()
    }
  } catch (error) {
    throw refusalOf(error)
  } finally {
    endProgress()
  }
}

/**
 * Tries whether a Worker can be started, by an empty program, whose Worker the next one gets.
 * @returns where to run: on the host's thread when no Worker can be started and none was asked for
 * @throws CliError where one was asked for
 */
async function openThread(runtime: Runtime, wanted: RunPlan['thread']): Promise<'host' | 'worker'> {
  if (wanted === 'host') return 'host'
  try {
    const outcome = await runtime.run('', { thread: 'worker' })
    if (outcome.status === 'completed') return 'worker'
  } catch {
    // What the Worker could not do, the host's thread may.
  }
  if (wanted === undefined) return 'host'
  throw new CliError({
    exit: EXIT.usage,
    code: 'unsupported',
    message: '--thread worker: no Worker could be started here.',
    hint: 'Use --thread host; caisson doctor says more.',
  })
}

/** What the runtime refuses before the program runs. */
function refusalOf(error: unknown): unknown {
  if (!CaissonError.is(error)) return error
  const exit = REFUSALS.get(error.code)
  return exit === undefined
    ? error
    : new CliError({ exit, code: error.code, message: error.message, cause: error })
}

const REFUSALS: ReadonlyMap<string, ExitCode> = new Map([
  ['invalid_limit', EXIT.usage],
  ['invalid_argument', EXIT.usage],
  ['invalid_capability', EXIT.refusedInput],
  ['engine_unavailable', EXIT.refusedInput],
  ['engine_mismatch', EXIT.refusedInput],
  ['value_refused', EXIT.refusedInput],
  ['value_too_large', EXIT.refusedInput],
  ['value_too_deep', EXIT.refusedInput],
  ['aborted', EXIT.interrupted],
])

function hintAtGrants({ rights }: RunPlan, io: CliIo): void {
  if (rights.grants.length > 0 || rights.withheld.length === 0) return
  const shown = rights.withheld.slice(0, 5).join(', ')
  const rest = rights.withheld.length > 5 ? `, and ${rights.withheld.length - 5} more` : ''
  const text = `--tools grants nothing by itself; add --grant NAME for each of: ${escapeText(shown)}${rest}`
  const lines = hangText('hint: ', text, io.stderr.columns - 1)
  io.stderr.write(`${styleFor(io.stderr).yellow(lines.join('\n'))}\n`)
}

function report(outcome: Outcome, plan: RunPlan, json: boolean, interrupted: boolean, io: CliIo): ExitCode {
  const { stdout, stderr } = io
  const style = styleFor(stderr)
  const { program, limits, rights } = plan
  const facts = { source: program.source, fileName: program.fileName, limits, withheld: rights.withheld }
  if (json) stdout.write(`${jsonText(runDocument(outcome, nextStep(outcome, facts)))}\n`)
  else if (outcome.status === 'completed' && outcome.value !== undefined) {
    const text = showValue(outcome.value, stdout.columns)
    stdout.write(text.endsWith('\n') ? text : `${text}\n`)
  }
  if (interrupted) {
    stderr.write(`${style.yellow('interrupted:')} the program was stopped\n`)
  } else {
    stderr.write(runEnding(outcome, facts, stderr.columns, style))
  }
  if (stderr.isTerminal) stderr.write(runSummary(outcome, stderr.columns, style))
  return interrupted ? EXIT.interrupted : exitOf(outcome)
}
