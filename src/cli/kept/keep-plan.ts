/** Whether and how a run is kept, from flags: checked before anything runs. */
import { resolve } from 'node:path'
import type { CheckpointOptions, CheckpointPolicy } from '../../runtime/checkpoints.ts'
import type { CheckpointKeys } from '../../snapshot/container/checkpoint-keys.ts'
import { CliError } from '../cli-error.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { parseCount } from '../units/parse-count.ts'
import { checkNewFile, ledgerOf } from './checkpoint-file.ts'
import { readKeyFile } from './key-file.ts'
import { checkRunName, newRunName } from './run-name.ts'
import type { CheckpointPlace } from './run-place.ts'
import { folderOf, placeOf, type StorePlace } from './store-place.ts'

export interface KeepPlan {
  readonly run: string
  readonly store: StorePlace
  readonly file: CheckpointPlace | undefined
  readonly stopAtCall: number | undefined
  readonly label: 'plain' | 'secret'
  readonly checkpoints: CheckpointOptions
}

/**
 * One file is the newest checkpoint until the run is parked again or ends: none is taken in between, so that after
 * a crash the file is still what to go on from. Each stands alone.
 */
const ONE_FILE: CheckpointPolicy = {
  calls: Number.MAX_SAFE_INTEGER,
  bytes: Number.MAX_SAFE_INTEGER,
  ms: Number.MAX_SAFE_INTEGER,
  links: 0,
}

/**
 * Undefined where the run is not kept.
 * @param fileName of the program: names the run
 * @throws CliError usage
 */
export async function planKeeping(
  given: GivenFlags,
  fileName: string,
  cwd: string,
): Promise<KeepPlan | undefined> {
  const store = given.value('store')
  const checkpoint = given.value('checkpoint')
  const stopAtCall = readStopAtCall(given)
  const suspends = given.value('at-end') === 'suspend'
  if (store !== undefined && checkpoint !== undefined) {
    throw usage('--store and --checkpoint are two ways of keeping a run.', 'Give one of them.')
  }
  if (store === undefined && checkpoint === undefined) {
    const lonely = suspends
      ? 'at-end suspend'
      : ['run', 'stop-at-call', 'key-file', 'secret'].find((name) => given.has(name))
    if (lonely === undefined) return undefined
    throw usage(
      `--${lonely} is about a run that is kept.`,
      'Add --store DIR, or --stop-at-call N --checkpoint FILE.',
    )
  }
  if (checkpoint !== undefined && stopAtCall === undefined && !suspends) {
    throw usage('--checkpoint writes the program that --stop-at-call parked.', 'Add --stop-at-call N.')
  }
  const keys = await readKeyFile(given.value('key-file'), cwd)
  if (given.has('secret') && keys.encryption === undefined) {
    throw usage('--secret needs a key that encrypts.', 'Add --key-file FILE with an "encryption" key.')
  }
  const file = checkpoint === undefined ? undefined : { given: checkpoint, path: resolve(cwd, checkpoint) }
  if (file !== undefined) await checkNewFile(file.path, file.given)
  const name = given.value('run')
  if (file !== undefined && name !== undefined) {
    throw usage(
      '--run names a run in a --store; with --checkpoint, the file is its name.',
      'Leave --run out.',
    )
  }
  return {
    run: name === undefined ? newRunName(fileName) : checkRunName(name, '--run'),
    store: file === undefined ? placeOf(store ?? '', cwd) : folderOf(ledgerOf(file.given), cwd),
    file,
    stopAtCall,
    label: given.has('secret') ? 'secret' : 'plain',
    checkpoints: checkpointOptions(keys, file !== undefined),
  }
}

export function checkpointOptions(keys: CheckpointKeys, inOneFile: boolean): CheckpointOptions {
  return { keys, ...(inOneFile && { every: ONE_FILE }) }
}

/** @throws CliError usage */
export function readStopAtCall(given: GivenFlags): number | undefined {
  const text = given.value('stop-at-call')
  if (text === undefined) return undefined
  const call = parseCount('stop-at-call', text, '2')
  if (call > 0) return call
  throw usage('--stop-at-call counts from 1.', 'The first call of a program has the number 1.')
}

function usage(message: string, hint: string): CliError {
  return new CliError({ exit: EXIT.usage, code: 'usage', message, hint })
}
