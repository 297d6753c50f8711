/** Goes on with a program that was found: with its ledger, or from a file alone. */
import { escapeText } from '../../base/escape-text.ts'
import { ENGINE_MANIFEST } from '../../isolate/engine-manifest.ts'
import { type Limits, parseLimits } from '../../machine/limits.ts'
import type { Clock } from '../../ports/clock.ts'
import type { DescribedRun } from '../../runtime/describe-run.ts'
import type { LoadModule } from '../../runtime/module-options.ts'
import type { Outcome } from '../../runtime/outcome.ts'
import type { CheckpointKeys } from '../../snapshot/container/checkpoint-keys.ts'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { styleFor } from '../render/style.ts'
import { hangText } from '../render/wrap-text.ts'
import type { Rights } from '../run/grant-rights.ts'
import { inRuntime, type RuntimeSetting } from '../run/in-runtime.ts'
import { scopeWithin } from '../run/right-scope.ts'
import type { ToolFailures } from '../run/tool-failures.ts'
import type { FoundFile } from './find-kept.ts'
import { finishGuest } from './finish-file.ts'
import { goOnAfter } from './go-on.ts'
import { checkpointOptions } from './keep-plan.ts'
import { type KeptEnd, keptAsOf, writeParked } from './keep-run.ts'
import type { Decisions } from './read-decisions.ts'
import { type RunPlace, resumeCommand, TENANT, whereOf } from './run-place.ts'

/** What the flags of `caisson resume` ask for. */
export interface ResumePlan {
  readonly keys: CheckpointKeys
  readonly decisions: Decisions
  readonly limits: Partial<Limits>
  readonly addFuel: number | undefined
  readonly stopAtCall: number | undefined
  readonly changeScope: boolean
  /** Gives what the program imports from now on. */
  readonly loadModule: LoadModule | undefined
  readonly reexecute: boolean
  readonly thread: 'host' | 'worker' | undefined
  readonly clock: Clock
}

/** What both ways of going on need. */
export interface Parts {
  readonly plan: ResumePlan
  readonly given: GivenFlags
  readonly rights: Rights
  readonly failures: ToolFailures
  readonly signal: AbortSignal
  readonly io: CliIo
}

/** An end, with what is known of the program. */
export interface ResumedEnd extends KeptEnd {
  readonly source: string
  readonly modules?: ReadonlyMap<string, string>
  readonly limits: Limits
}

/**
 * With its log: nothing is asked twice.
 * @param described how the run stands
 * @throws CliError
 */
export async function resumeKept(
  place: RunPlace,
  described: DescribedRun,
  file: FoundFile | undefined,
  parts: Parts,
): Promise<ResumedEnd> {
  const { plan, given, rights, signal, io } = parts
  const { keys, decisions, addFuel, stopAtCall } = plan
  const { store, run } = place
  const { start } = described
  const isOver = described.end !== undefined && !goesOn(described, plan)
  const engine = plan.reexecute
    ? ENGINE_MANIFEST.id
    : (described.chain[0]?.checkpoint?.engine ?? start.engine)
  const outcome = await inRuntime(
    {
      ...settingFor(isOver ? onHost(parts) : parts, engine, `resuming ${escapeText(start.fileName)}`, {
        store,
        checkpoints: checkpointOptions(keys, place.file !== undefined),
      }),
      kept: whereOf(place),
    },
    io,
    (runtime, thread) =>
      runtime.resume(run, {
        domain: TENANT,
        grants: rights.grants,
        signal,
        thread,
        stateDigest: true,
        answers: decisions.answers,
        confirm: decisions.confirm,
        scope: scopeWithin(rights.scope, start.scope ?? []),
        changeScope: plan.changeScope,
        ...(plan.loadModule && { loadModule: plan.loadModule }),
        reexecute: plan.reexecute,
        // Those that it had, without a key too: whoever names a store or a ledger takes it as it is.
        ...(!isOver && { limits: { ...described.limits, ...plan.limits } }),
        ...(addFuel !== undefined && { addFuel }),
        ...(stopAtCall !== undefined && { stopAtCall }),
        ...(file && { checkpoint: file.bytes }),
      }),
  )
  if (isOver) sayThatItHadEnded(described, io)
  const written = await writeParked(place, given, outcome, file?.inspected.id, io)
  return {
    outcome,
    goOn: goOnAfter(outcome, (more) => resumeCommand(place, given, written, more)),
    keptAs: keptAsOf(place, written),
    source: start.source,
    modules: new Map(start.modules?.files.map(({ name, code }) => [name, code])),
    limits: described.limits,
  }
}

/** Without a log: every call that it waits for is in doubt. @throws CliError */
export async function restoreFile({ place, bytes, inspected }: FoundFile, parts: Parts): Promise<ResumedEnd> {
  const { plan, given, rights, signal, io } = parts
  const { keys, decisions, limits } = plan
  const needing = ['add-fuel', 'stop-at-call', 'reexecute'].find((name) => given.has(name))
  if (needing !== undefined) {
    throw new CliError({
      exit: EXIT.usage,
      code: 'usage',
      message: `--${needing} needs the ledger that was written with the checkpoint.`,
      hint: 'Put FILE.ledger beside FILE.',
    })
  }
  warnOfNoLedger(place.given, rights.scope.length > 0, io)
  const outcome: Outcome = await inRuntime(
    {
      ...settingFor(parts, inspected.engine, `resuming ${escapeText(place.given)}`, {
        checkpoints: checkpointOptions(keys, true),
      }),
      kept: {},
    },
    io,
    async (runtime, thread) => {
      const guest = await runtime.restore(bytes, {
        domain: TENANT,
        grants: rights.grants,
        signal,
        thread,
        stateDigest: true,
        ...(plan.loadModule && { loadModule: plan.loadModule }),
        ...(Object.keys(limits).length > 0 && { limits }),
      })
      try {
        return await finishGuest(guest, decisions)
      } finally {
        guest.dispose()
      }
    },
  )
  const named = { storeName: '', run: inspected.run, file: place }
  const goOn =
    outcome.status === 'suspended'
      ? goOnAfter(outcome, (more) => resumeCommand(named, given, true, more))
      : undefined
  const keptAs = {
    run: null,
    store: null,
    checkpointFile: outcome.status === 'suspended' ? place.given : null,
  }
  return { outcome, goOn, keptAs, source: '', limits: parseLimits(limits) }
}

function settingFor(
  { plan, rights, failures }: Parts,
  engine: string,
  progress: string,
  kept: RuntimeSetting['options'],
): RuntimeSetting {
  return {
    options: {
      ...kept,
      capabilities: rights.capabilities,
      clock: plan.clock,
      onCapabilityError: (failure) => failures.add(failure),
      // The build that the program was parked on, where it is at hand.
      ...(engine !== ENGINE_MANIFEST.id && { engineId: engine }),
    },
    memoryBytes: plan.limits.memoryBytes,
    thread: plan.thread,
    progress,
  }
}

/** Nothing is run: no Worker has to be started for it. */
function onHost(parts: Parts): Parts {
  return { ...parts, plan: { ...parts.plan, thread: 'host' } }
}

/** A run that ran out of something goes on with more of it; any other end is only told again. */
export function goesOn({ end }: DescribedRun, { limits, addFuel }: ResumePlan): boolean {
  return end?.end.status === 'exhausted' && (addFuel !== undefined || Object.keys(limits).length > 0)
}

export function sayThatItHadEnded({ end }: DescribedRun, io: CliIo): void {
  const more =
    end?.end.status === 'exhausted'
      ? 'it ran out of a limit before; give it more to go on'
      : 'the run had ended before; this is what it came to, and nothing was run'
  const lines = hangText('note: ', more, io.stderr.columns - 1)
  io.stderr.write(`${lines.join('\n').replace('note:', styleFor(io.stderr).yellow('note:'))}\n`)
}

function warnOfNoLedger(given: string, reaches: boolean, io: CliIo): void {
  const name = escapeText(given)
  const rights = reaches ? ', nor which directories and hosts the program had' : ''
  const text = `beside ${name} there is no ${name}.ledger: nothing tells what was done since it was written${rights}`
  const lines = hangText('warning: ', text, io.stderr.columns - 1)
  io.stderr.write(`${styleFor(io.stderr).yellow(lines.join('\n'))}\n`)
}
