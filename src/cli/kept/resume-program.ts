/** What `caisson resume` does. */
import { resolve } from 'node:path'
import { nodeCheckpointPorts } from '../../../host-bindings/system/checkpoint-ports.node.ts'
import { type DescribedRun, describeRun } from '../../runtime/describe-run.ts'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import type { GuestKind } from '../modules/tell-guest.ts'
import { findPackageRoot } from '../package-root.ts'
import { namesPlanRun } from '../plan-runs/is-plan-run.ts'
import { MORE_BUDGET } from '../plan-runs/read-resumption.ts'
import { grantRights } from '../run/grant-rights.ts'
import { interruptibly } from '../run/interruption.ts'
import { LATER_LIMITS, readLimits } from '../run/limit-flags.ts'
import { refusalOf } from '../run/refusal.ts'
import { modulesBeside, readClock, readThread } from '../run/run-plan.ts'
import { tellOutcome } from '../run/tell-outcome.ts'
import { ToolFailures } from '../run/tool-failures.ts'
import { parseCount } from '../units/parse-count.ts'
import { type Found, type FoundFile, findKept } from './find-kept.ts'
import { readStopAtCall } from './keep-plan.ts'
import { readKeyFile } from './key-file.ts'
import { readDecisions } from './read-decisions.ts'
import { type Parts, type ResumePlan, restoreFile, resumeKept } from './resume-run.ts'
import { TENANT, whereOf } from './run-place.ts'

/** Flags that mean something for one of both. */
const FOR_PROGRAMS = [
  ...['grant', 'change-rights', 'stop-at-call', 'modules', 'reexecute', 'now', 'wasm'],
  ...LATER_LIMITS.map(({ name }) => name),
]
const FOR_PLANS = ['by', ...MORE_BUDGET.map(({ name }) => name)]

/** Invariant of the command line: what is not understood is refused, never ignored. @throws CliError usage */
function refuseFlags(given: GivenFlags, flags: readonly string[], what: string): void {
  const wrong = flags.find((name) => given.has(name))
  if (wrong !== undefined) throw meansNothing(wrong, what)
}

function meansNothing(flag: string, what: string): CliError {
  const message = `--${flag} means nothing for ${what}.`
  return new CliError({ exit: EXIT.usage, code: 'usage', message, hint: 'caisson resume --help' })
}

/** As if the program stood in that folder. */
function readModules(folder: string | undefined, cwd: string): ResumePlan['loadModule'] {
  return folder === undefined ? undefined : modulesBeside(resolve(cwd, folder, 'program.js'), '')
}

async function planResume(given: GivenFlags, io: CliIo): Promise<ResumePlan> {
  const fuel = given.value('add-fuel')
  return {
    limits: readLimits(given, 'resume'),
    addFuel: fuel === undefined ? undefined : parseCount('add-fuel', fuel, '2_000_000_000'),
    stopAtCall: readStopAtCall(given),
    changeScope: given.has('change-rights'),
    loadModule: readModules(given.value('modules'), io.cwd),
    reexecute: given.has('reexecute'),
    thread: readThread(given.value('thread'), 'resume'),
    clock: readClock(given.value('now')),
    keys: await readKeyFile(given.value('key-file'), io.cwd),
    decisions: await readDecisions(given, io),
  }
}

/** @returns the exit code. @throws CliError */
export async function resumeProgram(given: GivenFlags, io: CliIo): Promise<number> {
  if (await namesPlanRun(given, io.cwd, true)) {
    refuseFlags(given, FOR_PROGRAMS, 'a run of a plan')
    // Programs of plans run on this thread anyway.
    if (readThread(given.value('thread'), 'resume') === 'worker')
      throw meansNothing('thread worker', 'a run of a plan')
    return (await import('../plan-runs/start-run.ts')).resumePlanRun(given, io)
  }
  refuseFlags(given, FOR_PLANS, 'a program')
  return interruptibly(given, io, async (interruption) => {
    const plan = await interruption.during(planResume(given, io))
    const found = await interruption.during(findKept(given, io.cwd))
    try {
      return await goOn(found, plan, given, interruption.signal, io)
    } catch (error) {
      throw refusalOf(error, whereOf(found.kept))
    } finally {
      await found.kept?.store.close()
    }
  })
}

/** What a run is of that is no program in JavaScript. */
function guestOfRun({ start }: DescribedRun): GuestKind | undefined {
  const { kind } = (start.program ?? {}) as { readonly kind?: unknown }
  return kind === 'module' || kind === 'component' ? kind : undefined
}

async function goOn(
  found: Found,
  plan: ResumePlan,
  given: GivenFlags,
  signal: AbortSignal,
  io: CliIo,
): Promise<number> {
  const { kept, file } = found
  const { keys } = plan
  const described =
    kept && (await describeRun(kept.store, kept.run, { ports: nodeCheckpointPorts, keys }, TENANT))
  const guest = described === undefined ? undefined : guestOfRun(described)
  if (guest !== undefined && kept !== undefined && described !== undefined) {
    const { resumeGuest } = await import('../modules/resume-guest.ts')
    return resumeGuest({ place: kept, described, file, plan, given, signal, guest }, io)
  }
  if (given.has('wasm')) throw meansNothing('wasm', 'a program in JavaScript')
  if (file !== undefined && /^(?:module|component):/.test(file.inspected.engine)) throw needsLedger()
  const before = described && { scope: described.start.scope ?? [] }
  const rights = await grantRights(given, pathsOf(found), io.cwd, before)
  const failures = new ToolFailures(rights.tools, findPackageRoot().code)
  try {
    const parts: Parts = { plan, given, rights, failures, signal, io }
    const { source, modules, limits, ...end } =
      kept !== undefined && described !== undefined
        ? await resumeKept(kept, described, file, parts)
        : await restoreFile(file as FoundFile, parts)
    const facts = { source, ...(modules && { modules }), limits, withheld: rights.withheld, goOn: end.goOn }
    return tellOutcome(
      {
        outcome: end.outcome,
        facts,
        failures,
        keptAs: end.keptAs,
        json: given.has('json'),
        interrupted: signal.aborted,
      },
      io,
    )
  } finally {
    await rights.close()
  }
}

/** Nothing but its ledger tells what was done since. */
function needsLedger(): CliError {
  return new CliError({
    exit: EXIT.usage,
    code: 'unsupported',
    message:
      'This is a checkpoint of a module or a component, which go on only with the ledger that was written with it.',
    hint: 'Put FILE.ledger beside FILE. In a program, openComponent takes the checkpoint of a component (from).',
  })
}

/** What no program may write to: what is believed of its run. */
function pathsOf({ kept, file }: Found): readonly string[] {
  const store = kept?.storePaths ?? []
  return file === undefined ? store : [...store, file.place.path]
}
