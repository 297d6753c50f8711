/** What the runtime refuses before or while a program runs, as an end of the command. */
import { CaissonError } from '../../base/errors.ts'
import { CliError } from '../cli-error.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { flagsOfGrants } from '../kept/flags-of-grants.ts'
import { shellQuote } from '../render/shell-quote.ts'
import { scopeTexts } from './right-scope.ts'

const EXITS: ReadonlyMap<string, ExitCode> = new Map([
  ['invalid_limit', EXIT.usage],
  ['invalid_argument', EXIT.usage],
  ['invalid_capability', EXIT.refusedInput],
  ['engine_unavailable', EXIT.refusedInput],
  ['engine_mismatch', EXIT.refusedInput],
  ['value_refused', EXIT.refusedInput],
  ['value_too_large', EXIT.refusedInput],
  ['value_too_deep', EXIT.refusedInput],
  ['invalid_result', EXIT.refusedInput],
  ['result_too_large', EXIT.refusedInput],
  ['corrupted', EXIT.refusedInput],
  ['checkpoint_refused', EXIT.refusedInput],
  ['checkpoint_too_large', EXIT.refusedInput],
  ['encryption_required', EXIT.refusedInput],
  ['store_conflict', EXIT.refusedInput],
  ['lease_lost', EXIT.refusedInput],
  ['diverged', EXIT.refusedInput],
  ['unknown_call', EXIT.usage],
  ['not_found', EXIT.usage],
  ['already_exists', EXIT.usage],
  ['erased', EXIT.refusedInput],
  ['store_failed', EXIT.internal],
  ['quota_exceeded', EXIT.internal],
  ['aborted', EXIT.interrupted],
])

/** Of a run that is kept: where, and which, as far as that is known. */
export interface KeptWhere {
  /** The folder of its store, as the person named it. */
  readonly store?: string | undefined
  readonly run?: string | undefined
}

/** As words of a command line. */
interface Named {
  readonly store: string
  readonly run: string
}

const oldEngine = ({ store }: Named): string =>
  `With --reexecute the program is taken from its start on the engine of this version, with all answers that its ledger or store has. Or finish it with the version of caisson that has its engine. caisson doctor --store ${store} lists what waits for which engine.`

const HINTS: Readonly<Record<string, (named: Named) => string>> = {
  corrupted: () =>
    'Nothing was run. Take a copy that is whole. Where only a checkpoint is lost, the log is enough: caisson resume --reexecute.',
  checkpoint_too_large: () => 'Nothing was run. Name a file that caisson run --checkpoint wrote.',
  encryption_required: () => 'Give the keys that it was written with: --key-file FILE.',
  engine_mismatch: oldEngine,
  engine_unavailable: oldEngine,
  already_exists: ({ store, run }) =>
    `Choose another name with --run, or go on with that run: caisson resume ${run} --store ${store}`,
  erased: ({ store, run }) =>
    `Nothing was done. caisson show ${run} --store ${store} says who erased them, and when; caisson verify looks at what is left.`,
  not_found: ({ store }) => `caisson runs --store ${store} lists the runs of the store.`,
  store_failed: () =>
    'What was acknowledged before is intact. See what is wrong with the disk, then caisson resume.',
  quota_exceeded: () => 'What was acknowledged before is intact. Make room, then caisson resume.',
}

/**
 * `error` as a `CliError` where it is a refusal, otherwise as it is.
 * @param kept of a run that is kept, or a store: then there is more to advise
 */
export function refusalOf(error: unknown, kept: KeptWhere | undefined): unknown {
  if (!CaissonError.is(error)) return error
  const exit = EXITS.get(error.code)
  if (exit === undefined) return error
  const hint = kept === undefined ? undefined : hintFor(error, kept)
  return new CliError({ exit, code: error.code, message: error.message, ...(hint && { hint }), cause: error })
}

function hintFor({ code, details }: CaissonError, { store, run }: KeptWhere): string | undefined {
  // What is there already is not always the run that the command is about: a fork has a name of its own.
  const about = code === 'already_exists' && typeof details.run === 'string' ? details.run : run
  const named = { store: store ? shellQuote(store) : 'DIR', run: about ?? 'RUN' }
  if (code === 'checkpoint_refused') return refusedHint(details)
  if (code === 'store_conflict') {
    const { retryAfterMs } = details
    const wait =
      typeof retryAfterMs === 'number'
        ? ` If that one has died, wait ${Math.ceil(retryAfterMs / 1000)} s.`
        : ''
    return `Another process goes on with this run.${wait} caisson show ${named.run} --store ${named.store} says how the run stands.`
  }
  if (code === 'unknown_call') {
    return details.ended === undefined
      ? `caisson show ${named.run} --store ${named.store} lists the calls that it waits for.`
      : 'Leave --answer and --confirm out to see what it came to.'
  }
  return HINTS[code]?.(named)
}

/** What differs where the keys are others. */
const KEYS: ReadonlySet<unknown> = new Set([
  'mac',
  'macKey',
  'authentication',
  'encryption',
  'encryptionKey',
  'log',
])

function refusedHint({ differs, missing, added, was }: CaissonError['details']): string | undefined {
  const flagsFor = (list: unknown): string =>
    flagsOfGrants((Array.isArray(list) ? list : []).map(String)).join(' ')
  const changes = [
    ...(flagsFor(missing) === '' ? [] : [`add ${flagsFor(missing)}`]),
    ...(flagsFor(added) === '' ? [] : [`leave out ${flagsFor(added)}`]),
  ]
  if (changes.length > 0) return `Give exactly the rights that it was started with: ${changes.join(', ')}.`
  if (differs === 'scope') {
    const before = Array.isArray(was) && was.length > 0 ? scopeTexts(was.map(String)).join(', ') : 'none'
    return `It had: ${before}. If the change is meant (a directory that was moved, a wider right), add --change-rights.`
  }
  if (differs === 'newest' || differs === 'end') {
    return 'Nothing was run. caisson show FILE says how the run stands; its store has what it came to.'
  }
  if (KEYS.has(differs))
    return 'Give the keys that it was written with, or none where it was written without: --key-file FILE.'
  return differs === undefined
    ? 'Give exactly the rights that it was started with: the same --tools, --grant and --allow- flags.'
    : undefined
}
