/** `caisson resume` of a kept run whose guest is WebAssembly: with the file that it was started from, which is not kept. */
import { escapeText } from '../../base/escape-text.ts'
import type { DescribedRun } from '../../runtime/describe-run.ts'
import type { GuestOutcome } from '../../runtime/guest-runs.ts'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import type { FoundFile } from '../kept/find-kept.ts'
import { goOnAfter } from '../kept/go-on.ts'
import { checkpointOptions } from '../kept/keep-plan.ts'
import { keptAsOf, writeParked } from '../kept/keep-run.ts'
import { goesOn, type ResumePlan, sayThatItHadEnded } from '../kept/resume-run.ts'
import { type RunPlace, resumeCommand, TENANT, whereOf } from '../kept/run-place.ts'
import { findPackageRoot } from '../package-root.ts'
import { grantRights } from '../run/grant-rights.ts'
import { inRuntime } from '../run/in-runtime.ts'
import { ToolFailures } from '../run/tool-failures.ts'
import { guestRefusal, preparing, withoutDirectories } from './guest-file.ts'
import { checkModuleNetwork } from './guest-flags.ts'
import { guestScope, moduleDirectories } from './module-directories.ts'
import { checkSameKind, otherGuest } from './other-guest.ts'
import { openPreparedCache } from './prepared-cache.ts'
import { readFileBytes } from './read-module-input.ts'
import { type GuestKind, tellGuest } from './tell-guest.ts'

export interface GuestToResume {
  readonly place: RunPlace
  readonly described: DescribedRun
  readonly file: FoundFile | undefined
  readonly plan: ResumePlan
  readonly given: GivenFlags
  readonly signal: AbortSignal
  readonly guest: GuestKind
}

/** @returns the exit code. @throws CliError */
export async function resumeGuest(wanted: GuestToResume, io: CliIo): Promise<ExitCode> {
  const { place, described, file, plan, given, signal, guest: kind } = wanted
  const { start } = described
  const wasm = given.value('wasm')
  if (wasm === undefined) throw needsWasm(kind, start.fileName, place, given)
  const wrong = given.has('modules') ? 'modules' : plan.thread === 'worker' ? 'thread worker' : undefined
  if (wrong !== undefined) throw meansNothing(wrong, kind)
  const bytes = await readFileBytes(wasm, 'program', io)
  checkSameKind(bytes, { kind, described, wasm })
  if (kind === 'module') checkModuleNetwork(given, bytes)
  const kept = [...place.storePaths, ...(file ? [file.place.path] : [])]
  const rights = await grantRights(withoutDirectories(given), kept, io.cwd)
  const failures = new ToolFailures(rights.tools, findPackageRoot().code)
  try {
    const directories = await moduleDirectories(given, [wasm, ...kept], io.cwd)
    const cache = await openPreparedCache()
    const isOver = described.end !== undefined && !goesOn(described, plan)
    const { decisions, addFuel, stopAtCall, reexecute, changeScope } = plan
    const options = {
      domain: TENANT,
      grants: rights.grants,
      signal,
      stateDigest: true,
      directories,
      answers: decisions.answers,
      confirm: decisions.confirm,
      scope: await guestScope(given, io.cwd),
      changeScope,
      reexecute,
      onProgress: preparing(io, start.fileName),
      limits: { ...described.limits, ...plan.limits },
      ...(cache && { cache }),
      ...(addFuel !== undefined && { addFuel }),
      ...(stopAtCall !== undefined && { stopAtCall }),
      ...(file && { checkpoint: file.bytes }),
    }
    const outcome = await inRuntime(
      {
        options: {
          store: place.store,
          checkpoints: checkpointOptions(plan.keys, place.file !== undefined),
          capabilities: rights.capabilities,
          clock: plan.clock,
          onCapabilityError: failures.add.bind(failures),
        },
        memoryBytes: Math.max(described.limits.memoryBytes, plan.limits.memoryBytes ?? 0),
        thread: 'host',
        progress: `resuming ${escapeText(start.fileName)}`,
        kept: whereOf(place),
      },
      io,
      async (runtime): Promise<GuestOutcome> => {
        try {
          return kind === 'module'
            ? await runtime.resumeModule(place.run, bytes, options)
            : await runtime.resumeComponent(place.run, bytes, options)
        } catch (error) {
          throw otherGuest(error, { kind, described, wasm, granted: rights.grants }) ?? guestRefusal(error)
        }
      },
    )
    if (isOver) sayThatItHadEnded(described, io)
    const written = await writeParked(place, given, outcome, file?.inspected.id, io)
    const goOn = goOnAfter(outcome, (more) => resumeCommand(place, given, written, more))
    const facts = { source: '', limits: described.limits, withheld: rights.withheld, goOn }
    const keptAs = keptAsOf(place, written)
    const json = given.has('json')
    return tellGuest({ outcome, kind, facts, failures, keptAs, json, interrupted: signal.aborted }, io)
  } finally {
    await rights.close()
  }
}

function needsWasm(kind: GuestKind, name: string, place: RunPlace, given: GivenFlags): CliError {
  return new CliError({
    exit: EXIT.usage,
    code: 'usage',
    message: `This run is of a ${kind}, whose file is not kept with it.`,
    hint: `Name the file that it was started from: ${resumeCommand(place, given, place.file !== undefined, ['--wasm', name])}`,
  })
}

function meansNothing(flag: string, kind: GuestKind): CliError {
  const message = `--${flag} means nothing for a ${kind}.`
  return new CliError({ exit: EXIT.usage, code: 'usage', message, hint: 'caisson resume --help' })
}
