/**
 * What a person means by FILE or RUN: a checkpoint file, with its ledger or without, or a run in a store.
 *
 * Without `--store` the name is that of a file.
 */
import { resolve } from 'node:path'
import { nodeCheckpointPorts } from '../../../host-bindings/system/checkpoint-ports.node.ts'
import { CaissonError } from '../../base/errors.ts'
import { clipText } from '../../base/escape-text.ts'
import { isRunName } from '../../runtime/check-options.ts'
import type { InspectedCheckpoint } from '../../snapshot/container/inspect-checkpoint.ts'
import { inspectCheckpoint } from '../../snapshot/container/inspect-checkpoint.ts'
import { CliError } from '../cli-error.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { shellQuote } from '../render/shell-quote.ts'
import { refusalOf } from '../run/refusal.ts'
import { kindOf, ledgerOf, readCheckpointFile } from './checkpoint-file.ts'
import { openStore } from './open-store.ts'
import { checkRunName } from './run-name.ts'
import type { CheckpointPlace, RunPlace } from './run-place.ts'
import { folderOf, pathsOfPlace, placeOf } from './store-place.ts'

/** A checkpoint as it was read from a file: whole, and nothing of it is verified. */
export interface FoundFile {
  readonly place: CheckpointPlace
  readonly bytes: Uint8Array
  readonly inspected: InspectedCheckpoint
}

export interface Found {
  readonly file: FoundFile | undefined
  /** Undefined for a file without a ledger. Its store is to be closed. */
  readonly kept: RunPlace | undefined
}

/** @throws CliError usage where there is nothing of the name, refused input for a file that is no checkpoint */
export async function findKept(given: GivenFlags, cwd: string): Promise<Found> {
  const [target = ''] = given.positionals
  const storeName = given.value('store')
  if (storeName !== undefined) {
    const run = checkRunName(target, 'RUN')
    const at = placeOf(storeName, cwd)
    const store = await openStore(at)
    return { file: undefined, kept: { store, storeName: at.name, storePaths: pathsOfPlace(at), run } }
  }
  const place: CheckpointPlace = { given: target, path: resolve(cwd, target) }
  const ledger = await kindOf(ledgerOf(place.path))
  if ((await kindOf(place.path)) !== 'file') throw await nothing(place, ledger === 'directory', cwd)
  const file = await readFound(place)
  if (ledger !== 'directory') return { file, kept: undefined }
  const at = folderOf(ledgerOf(target), cwd)
  const store = await openStore(at)
  const { run } = file.inspected
  try {
    if (!isRunName(run) || (await store.entries(run, 0, 1)).length === 0) throw unknownRun(target, run)
    return { file, kept: { store, storeName: at.name, storePaths: pathsOfPlace(at), run, file: place } }
  } catch (error) {
    await store.close()
    throw refusalOf(error, { store: ledgerOf(target), run })
  }
}

async function readFound(place: CheckpointPlace): Promise<FoundFile> {
  const bytes = await readCheckpointFile(place.path, place.given)
  try {
    return {
      place,
      bytes,
      inspected: await inspectCheckpoint(new Uint8Array(bytes), { ports: nodeCheckpointPorts }),
    }
  } catch (error) {
    const foreign = foreignBecause(error)
    if (foreign !== undefined) throw notACheckpoint(place.given, foreign)
    const refused = refusalOf(error, {})
    if (!(refused instanceof CliError)) throw error
    const { exit, code, message, hint } = refused
    throw new CliError({
      exit,
      code,
      message: `"${clipText(place.given, 200)}": ${message}`,
      ...(hint && { hint }),
      cause: error,
    })
  }
}

/** Why a file was never a checkpoint; undefined for one that is damaged, or another error. */
function foreignBecause(error: unknown): string | undefined {
  if (!CaissonError.is(error, 'corrupted')) return undefined
  const { reason } = error.details
  if (reason === 'length') return 'it is too short to be one'
  return reason === 'magic' ? 'it does not begin as one' : undefined
}

function notACheckpoint(given: string, because: string): CliError {
  const shown = clipText(given, 200)
  return new CliError({
    exit: EXIT.refusedInput,
    code: 'corrupted',
    message: `"${shown}" is no checkpoint file: ${because}.`,
    hint: /\.[mc]?jsx?$/.test(given)
      ? `A program is run by caisson run ${shellQuote(shown)}; with --stop-at-call N --checkpoint FILE that writes a checkpoint file.`
      : 'Name a file that caisson run --stop-at-call N --checkpoint FILE wrote.',
  })
}

function unknownRun(target: string, run: string): CliError {
  return new CliError({
    exit: EXIT.refusedInput,
    code: 'checkpoint_refused',
    message: `"${clipText(target, 200)}" is of the run "${clipText(run, 128)}", of which the ledger beside it knows nothing.`,
    hint: 'Put the file beside the ledger that was written with it, under its own name: FILE and FILE.ledger.',
  })
}

async function nothing({ given, path }: CheckpointPlace, hasLedger: boolean, cwd: string): Promise<CliError> {
  const shown = clipText(given, 200)
  if (hasLedger) {
    const run = await onlyRun(ledgerOf(given), cwd)
    return usage(
      `There is no file "${shown}": what was run could not be captured where it waited, its process ended before, or the file was moved.`,
      `The ledger has the run: caisson resume ${run} --store ${shellQuote(ledgerOf(given))}`,
    )
  }
  if ((await kindOf(path)) === 'directory') {
    return usage(
      `"${shown}" is a directory, and no checkpoint file.`,
      `If runs are kept in it, caisson runs --store ${shellQuote(shown)} lists them; name one of them, with --store ${shellQuote(shown)}.`,
    )
  }
  return usage(
    `There is no file "${shown}".`,
    isRunName(given)
      ? `For the name of a run, say where it is kept: --store DIR.`
      : 'Name a file that caisson run --checkpoint wrote.',
  )
}

/** The run of a ledger; a placeholder where nothing began. */
async function onlyRun(ledger: string, cwd: string): Promise<string> {
  const store = await openStore(folderOf(ledger, cwd))
  try {
    const [run = 'RUN'] = await store.runs()
    return run
  } catch (error) {
    throw refusalOf(error, { store: ledger })
  } finally {
    await store.close()
  }
}

function usage(message: string, hint: string): CliError {
  return new CliError({ exit: EXIT.usage, code: 'usage', message, hint })
}
