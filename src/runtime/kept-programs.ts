/**
 * Programs that are kept in a store, as the runtime offers them: run under a name, gone on with, taken again.
 */
import { CaissonError } from '../base/errors.ts'
import type { LedgerState } from '../capability/budget.ts'
import type { Outcome as DrivenOutcome } from '../machine/outcome.ts'
import type { MachineStart } from '../machine/turn.ts'
import type { RunStore } from '../ports/run-store.ts'
import { checkRepeatOptions, checkResumeOptions, checkRunOptions } from './check-options.ts'
import type { KeptOutcome } from './kept-outcome.ts'
import { tookBefore } from './kept-run.ts'
import type { ModuleDesk } from './module-desk.ts'
import type { RepeatOptions, ResumeOptions, RunOptions } from './options.ts'
import type { Outcome } from './outcome.ts'
import { repeatRun } from './repeat-run.ts'
import { RunKeeper, type RunKeeperParts } from './run-keeper.ts'
import { ownerOf, type RunOwner, runOwnerOf } from './run-owner.ts'
import type { Under } from './run-span.ts'
import { watchedStore } from './watched-store.ts'

/** What the runtime lends. */
export interface KeptProgramsParts extends Omit<RunKeeperParts, 'store' | 'signal'> {
  readonly modules: ModuleDesk
  readonly newGuestId: () => string
  /** Adds what only the runtime knows. */
  complete(outcome: DrivenOutcome, start: MachineStart): Outcome
}

/** Of the run of a plan that a program is of, where it has one: what is kept of the program is encrypted under it. */
type RunKeyBytes = Uint8Array | undefined

export class KeptPrograms {
  readonly #parts: KeptProgramsParts
  readonly #store: RunStore | undefined

  /** @param store without one, every method throws `invalid_argument` */
  constructor(parts: KeptProgramsParts, store: RunStore | undefined) {
    this.#parts = parts
    this.#store = store
  }

  async run(
    source: string,
    options: RunOptions,
    run: string,
    under?: Under,
    key?: RunKeyBytes,
  ): Promise<Outcome> {
    checkRunOptions(options)
    const { modules, newGuestId } = this.#parts
    const keeper = new RunKeeper({ ...this.#keeperParts(options.signal, key), under })
    const kept = await keeper.begin(source, modules.open(options), ownerOf(options, run), newGuestId())
    return this.#complete(kept, run)
  }

  async resume(run: string, options: ResumeOptions, under?: Under, key?: RunKeyBytes): Promise<Outcome> {
    checkResumeOptions(options)
    const { modules } = this.#parts
    const keeper = new RunKeeper({ ...this.#keeperParts(options.signal, key), under })
    return this.#complete(await keeper.resume(runOwnerOf(options, run), modules.open(options)), run)
  }

  async repeat(run: string, options: RepeatOptions, key?: RunKeyBytes): Promise<Outcome> {
    checkRepeatOptions(options)
    const { modules } = this.#parts
    const parts = this.#keeperParts(options.signal, key)
    return this.#complete(await repeatRun(parts, runOwnerOf(options, run), modules.repeat(options)), run)
  }

  /** What the calls of a run took of its grants, by its record; undefined where there is none. */
  async tookBefore(owner: RunOwner, key?: RunKeyBytes): Promise<LedgerState['accounts'] | undefined> {
    return tookBefore(this.#keeperParts(undefined, key), owner)
  }

  #keeperParts(signal: AbortSignal | undefined, key: RunKeyBytes): RunKeeperParts {
    if (this.#store === undefined) {
      throw new CaissonError(
        'invalid_argument',
        'Runs with a name are kept in a store: give one to openRuntime.',
      )
    }
    const { checkpoints } = this.#parts
    return {
      ...this.#parts,
      ...(key && { checkpoints: checkpoints.under(key) }),
      store: watchedStore(this.#store, signal),
      signal,
    }
  }

  #complete(kept: KeptOutcome, run: string): Outcome {
    const { outcome, start, checkpoint, stateDigest, resumable, unwritten, log } = kept
    return Object.assign(this.#parts.complete(outcome, start), {
      run,
      ...(resumable && { resumable }),
      ...(unwritten && { unwritten }),
      ...(log && { log }),
      ...(checkpoint && { checkpoint }),
      ...(stateDigest && { stateDigest }),
    })
  }
}
