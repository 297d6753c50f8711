/**
 * Where a core guest was entered, and how it leaves its own stack there to wait, and comes back to it.
 *
 * Invariant
 * 1. While it is on its way out or back, none of its code runs and no host function does anything.
 */
import { CaissonError } from '../../base/errors.ts'
import type { CoreInstance } from './core-instance.ts'
import type { SuspendingImport } from './core-manifest.ts'
import { type Suspension, UnwindArea } from './unwind-area.ts'

/** An export of one of the guest's modules. */
export interface CoreEntry {
  readonly instance: CoreInstance
  readonly name: string
}

export class CoreWait {
  /** Of the turn that runs, or that was suspended. */
  #entry: CoreEntry | undefined
  #area: UnwindArea | undefined
  #suspension: Suspension | undefined
  #answer: unknown

  get suspension(): Suspension | undefined {
    return this.#suspension
  }

  /** Where the guest was entered that is suspended now. */
  get entry(): CoreEntry | undefined {
    return this.#suspension === undefined ? undefined : this.#entry
  }

  /** Whether it is on its way out. */
  get unwinds(): boolean {
    return this.#area?.unwinds === true
  }

  /** Before the guest is entered. @throws CaissonError `busy` */
  begin(entry: CoreEntry): void {
    if (this.#suspension !== undefined)
      throw new CaissonError('busy', 'The guest is suspended; resume it first.')
    this.#entry = entry
  }

  /** A guest that was captured. */
  adopt(entry: CoreEntry, suspension: Suspension): void {
    this.#entry = entry
    this.#suspension = suspension
  }

  /** The guest is about to be entered again. @returns what puts its stack back, at the begin of the turn */
  resume(entry: CoreEntry, suspension: Suspension, answer: unknown): () => void {
    this.#answer = answer
    this.#suspension = undefined
    return () => {
      this.#area = UnwindArea.rewind(entry.instance.exports, suspension)
    }
  }

  /** In an import: what it was left for, where the guest came back to it. */
  takeAnswer(): { readonly answer: unknown } | undefined {
    if (this.#area?.rewinds !== true) return undefined
    this.#area.finishRewind()
    this.#area = undefined
    return { answer: this.#answer }
  }

  /**
   * In an import: the guest goes back to where it was entered.
   * @param isAlone whether there are frames of nobody else in between
   * @throws CaissonError `unsupported`
   */
  suspend(instance: CoreInstance, at: SuspendingImport, args: readonly unknown[], isAlone: boolean): void {
    if (!isAlone || this.#entry?.instance !== instance) {
      throw new CaissonError(
        'unsupported',
        `The guest called ${JSON.stringify(at.name.slice(0, 80))} where it cannot be suspended: inside of a call of its host, or of another module.`,
      )
    }
    this.#area = UnwindArea.unwind(instance.exports, at, args)
  }

  /** After the guest returned: where it waits, if it does. */
  finishUnwind(): Suspension | undefined {
    if (!this.unwinds) return undefined
    this.#suspension = this.#area?.finishUnwind()
    this.#area = undefined
    return this.#suspension
  }

  /** The turn ended otherwise. */
  forgetEntry(): void {
    this.#entry = undefined
  }
}
