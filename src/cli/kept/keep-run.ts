/** `caisson run` of a program that is kept, in a store or as one file. */
import { rm } from 'node:fs/promises'
import type { Digest } from '../../base/digest.ts'
import { clipText, escapeText } from '../../base/escape-text.ts'
import type { RunStore } from '../../ports/run-store.ts'
import type { RunOptions } from '../../runtime/options.ts'
import type { Outcome } from '../../runtime/outcome.ts'
import { decodeRunSummary } from '../../runtime/run-summary.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import type { GoOn } from '../render/next-step.ts'
import { shellQuote } from '../render/shell-quote.ts'
import { styleFor } from '../render/style.ts'
import { inRuntime, type RuntimeSetting } from '../run/in-runtime.ts'
import type { KeptAs } from '../run/refused-document.ts'
import { showSize } from '../units/parse-size.ts'
import { writeCheckpointFile } from './checkpoint-file.ts'
import { goOnAfter } from './go-on.ts'
import type { KeepPlan } from './keep-plan.ts'
import { makeStore } from './open-store.ts'
import { type RunPlace, resumeCommand, TENANT, whereOf } from './run-place.ts'
import { pathsOfPlace } from './store-place.ts'

/** How a run came to rest, and how to go on with it. */
export interface KeptEnd<End extends Outcome = Outcome> {
  readonly outcome: End
  readonly goOn?: GoOn | undefined
  readonly keptAs?: KeptAs | undefined
}

/** What is run, whatever its guest is. */
export interface KeptJob<End extends Outcome = Outcome> {
  readonly setting: RuntimeSetting
  /** What its rights reach. */
  readonly scope: readonly string[]
  run(runtime: Runtime, thread: 'host' | 'worker', own: KeptOptions): Promise<End>
}

/** What a run is kept with, as `run` of a runtime takes it. */
export type KeptOptions = Pick<RunOptions, 'run' | 'domain' | 'label' | 'scope' | 'stopAtCall'>

/** @throws CliError */
export async function keepRun<End extends Outcome>(
  job: KeptJob<End>,
  keep: KeepPlan,
  given: GivenFlags,
  io: CliIo,
): Promise<KeptEnd<End>> {
  const { run, file, stopAtCall, label, checkpoints } = keep
  const store = await makeStore(keep.store)
  const place: RunPlace = {
    store,
    storeName: keep.store.name,
    storePaths: pathsOfPlace(keep.store),
    run,
    file,
  }
  let disposable = false
  try {
    await refuseTaken(place)
    if (file === undefined) sayWhere(place, io)
    const { options, ...setting } = job.setting
    const own = {
      run,
      domain: TENANT,
      label,
      scope: job.scope,
      ...(stopAtCall !== undefined && { stopAtCall }),
    }
    const outcome = await inRuntime(
      { ...setting, options: { ...options, store, checkpoints }, kept: whereOf(place) },
      io,
      (runtime, thread) => job.run(runtime, thread, own),
    )
    const written = await writeParked(place, given, outcome, undefined, io)
    disposable = file !== undefined && !written && (await isOver(store, run))
    if (disposable) {
      const { yellow } = styleFor(io.stderr)
      io.stderr.write(
        `${yellow('note:')} the program ended ${stopAtCall === undefined ? 'with nothing pending' : `before call ${stopAtCall}`}; there is no checkpoint\n`,
      )
    }
    const keptAs = disposable ? undefined : keptAsOf(place, written)
    const goOn = goOnAfter(outcome, (more) => resumeCommand(place, given, written, more))
    return { outcome, goOn, keptAs }
  } catch (error) {
    // Nothing began: an empty ledger would only stand in the way of the next attempt.
    disposable = file !== undefined && (await store.runs().catch(() => [run])).length === 0
    throw error
  } finally {
    await store.close()
    if (disposable) await rm(keep.store.at, { recursive: true, force: true })
  }
}

export function keptAsOf({ run, storeName, file }: RunPlace, written: boolean): KeptAs {
  return { run, store: storeName, checkpointFile: file !== undefined && written ? file.given : null }
}

/**
 * Writes the checkpoint file of a program that was parked anew.
 * @param before the checkpoint that the file has
 * @returns whether the file stands for the run now
 * @throws CliError internal
 */
export async function writeParked(
  place: RunPlace,
  given: GivenFlags,
  { status, checkpoint }: Outcome,
  before: string | undefined,
  io: CliIo,
): Promise<boolean> {
  const { store, file } = place
  if (file === undefined) return false
  if (status === 'suspended' && checkpoint === undefined) {
    const { yellow } = styleFor(io.stderr)
    io.stderr.write(
      `${yellow('note:')} it cannot be captured as it waits now: there is no ${escapeText(file.given)}, and it goes on by its record\n`,
    )
  }
  if (status !== 'suspended' || checkpoint === undefined || checkpoint === before) return before !== undefined
  const bytes = await store.getBlob(checkpoint as Digest)
  if (bytes === undefined) return false
  await writeCheckpointFile(file.path, file.given, bytes, resumeCommand(place, given, false))
  const { green } = styleFor(io.stderr)
  io.stderr.write(`${green('checkpoint:')} ${escapeText(file.given)} (${showSize(bytes.length)})\n`)
  return true
}

/** Before anything is said of the run. Of two that begin at once, the store still lets one begin. */
async function refuseTaken({ store, storeName, run }: RunPlace): Promise<void> {
  const taken = (await store.head(run)) !== undefined || (await store.entries(run, 0, 1)).length > 0
  if (!taken) return
  const shown = `caisson resume ${run} --store ${shellQuote(storeName)}`
  throw new CliError({
    exit: EXIT.usage,
    code: 'already_exists',
    message: `There is a run "${run}" in ${clipText(storeName, 200)} already.`,
    hint: `Choose another name with --run, or go on with that run: ${shown}`,
  })
}

/** Said before the run begins: who is killed cannot say it any more. */
function sayWhere({ run, storeName }: RunPlace, io: CliIo): void {
  const { dim } = styleFor(io.stderr)
  io.stderr.write(`${dim(`run: ${run} in ${escapeText(storeName)}`)}\n`)
}

/** Whether the program came to an end that nothing goes on from. */
async function isOver(store: RunStore, run: string): Promise<boolean> {
  const head = await store.head(run)
  if (head === undefined) return false
  const { status } = decodeRunSummary(head.summary)
  return status === 'completed' || status === 'failed'
}
