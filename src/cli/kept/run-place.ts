/** Where a run is kept, and the command line that goes on with it. */
import type { RunStore } from '../../ports/run-store.ts'
import type { GivenFlags } from '../command.ts'
import { shellQuote } from '../render/shell-quote.ts'
import type { KeptWhere } from '../run/refusal.ts'
import { ledgerOf } from './checkpoint-file.ts'

/** Whose runs those of the command line are: of the person at the keyboard, and of nobody else. */
export const TENANT = 'default'

export interface RunPlace {
  readonly store: RunStore
  /** The store, as it may be shown. */
  readonly storeName: string
  /** What of it no program may write to. */
  readonly storePaths: readonly string[]
  readonly run: string
  /** The one file that stands for the run. */
  readonly file?: CheckpointPlace | undefined
}

export interface CheckpointPlace {
  /** As the person named it. */
  readonly given: string
  /** Absolute. */
  readonly path: string
}

/** What is known of it for advice; nothing of a file without a ledger. */
export function whereOf(place: Pick<RunPlace, 'storeName' | 'run'> | undefined): KeptWhere {
  return { store: place?.storeName, run: place?.run }
}

/** Flags that have to be given again when a run goes on. */
const AGAIN = ['wasm', 'tools', 'grant', 'allow-net', 'allow-read', 'allow-write', 'key-file', 'now'] as const

/**
 * What to type to go on, quoted for a shell.
 * @param fileIsWritten whether the checkpoint file, where there is one, stands for the run by now
 * @param more flags and values
 */
export function resumeCommand(
  { storeName, run, file }: Pick<RunPlace, 'storeName' | 'run' | 'file'>,
  given: GivenFlags,
  fileIsWritten: boolean,
  more: readonly string[] = [],
): string {
  const what =
    file === undefined
      ? [run, '--store', storeName]
      : fileIsWritten
        ? [file.given]
        : [run, '--store', ledgerOf(file.given)]
  const rights = AGAIN.flatMap((name) => given.values(name).flatMap((value) => [`--${name}`, value]))
  const changed = given.has('change-rights') ? ['--change-rights'] : []
  return ['caisson', 'resume', ...what, ...rights, ...changed, ...more].map(shellQuote).join(' ')
}
