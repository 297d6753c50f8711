/** What `caisson plan start`, `caisson cancel` and `caisson resume` of a run of a plan do: it is driven until it is at rest. */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { clipText } from '../../base/escape-text.ts'
import type { PlanRun } from '../../runtime/plans/plan-run.ts'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { TENANT } from '../kept/run-place.ts'
import { shellQuote } from '../render/shell-quote.ts'
import { driveRun } from './drive-run.ts'
import { RIGHT_FLAGS } from './plan-command.ts'
import { inPlanSession } from './plan-session.ts'
import { approveAtOnce, withProposal } from './propose-plan.ts'
import { readResumption } from './read-resumption.ts'
import { sayRun } from './say-run.ts'
import { readBy } from './who.ts'

/** @returns the exit code. @throws CliError */
export async function startRun(given: GivenFlags, io: CliIo): Promise<number> {
  const by = readBy(given)
  if (given.has('approve')) {
    return withProposal(given, io, 'plan start', async (run, session) => {
      sayRun(run, session)
      await approveAtOnce(run, given)
      return driveRun(run, 'go on', (signal) => run.start({ by, signal }), session)
    })
  }
  const needing = ['run', 'input'].find((name) => given.has(name))
  if (needing !== undefined) throw usage('start', `--${needing} goes with FILE and --approve.`)
  const [name = ''] = given.positionals
  try {
    return await inPlanSession(
      given,
      io,
      { command: 'plan start', run: name, tools: true },
      async (session) => {
        const run = await session.runtime.planRun(name, { domain: TENANT })
        return driveRun(run, 'go on', (signal) => run.start({ by, signal }), session)
      },
    )
  } catch (error) {
    if (error instanceof CliError && error.exit === EXIT.usage && isFile(resolve(io.cwd, name)))
      throw isAFile(name, given)
    throw error
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

/** Somebody named a plan where a run is wanted. */
function isAFile(name: string, given: GivenFlags): CliError {
  const named = `${shellQuote(name)} --store ${shellQuote(given.value('store') ?? 'DIR')}`
  return usage(
    'start',
    `"${clipText(name, 200)}" is a file, and plan start takes the name of a run that was approved.`,
    `caisson plan propose ${named} proposes a run of it. For a plan that you trust, caisson plan start ${named} --approve does all at once.`,
  )
}

/** @returns the exit code. @throws CliError */
export async function cancelRun(given: GivenFlags, io: CliIo): Promise<number> {
  const [name = ''] = given.positionals
  const reason = given.value('reason')
  if (reason === undefined) throw usage('cancel', 'Say why: --reason TEXT.')
  return inPlanSession(given, io, { command: 'cancel', run: name, tools: true }, async (session) => {
    const run = await session.runtime.planRun(name, { domain: TENANT })
    await checkCanUndo(run, given)
    return driveRun(run, 'cancel', () => run.cancel({ by: readBy(given), reason }), session)
  })
}

/** @returns the exit code. @throws CliError */
export async function resumePlanRun(given: GivenFlags, io: CliIo): Promise<number> {
  const [name = ''] = given.positionals
  const resumption = await readResumption(given, io)
  return inPlanSession(given, io, { command: 'resume', run: name, tools: true }, async (session) => {
    const run = await session.runtime.planRun(name, { domain: TENANT })
    return driveRun(run, 'go on', (signal) => run.resume({ ...resumption, signal }), session)
  })
}

/** Before it is written down that it is to be cancelled: what was done is undone by the same tools. @throws CliError */
async function checkCanUndo(run: PlanRun, given: GivenFlags): Promise<void> {
  const { startedAtMs } = await run.view()
  const needed = (run.plan.grants ?? []).length > 0 && startedAtMs !== undefined
  if (!needed || RIGHT_FLAGS.some((flag) => given.has(flag))) return
  throw usage(
    'cancel',
    'The run has begun, and what it did is undone with its tools: give them again (--tools, --allow-…).',
  )
}

function usage(command: string, message: string, hint?: string): CliError {
  const name = command === 'cancel' ? command : `plan ${command}`
  return new CliError({ exit: EXIT.usage, code: 'usage', message, hint: hint ?? `caisson ${name} --help` })
}
