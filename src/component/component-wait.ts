/**
 * How a component leaves its own stack while it waits for an answer, and comes back to it.
 *
 * Invariants
 * 1. Between two turns no wasm frame is live: the stack is data (`Suspension`).
 * 2. It waits in calls of the host's only, made by the one core module that was prepared for it, with no frame of the host,
 *    and none of another module, in between. Everywhere else the call ends the guest, by name.
 * 3. What the guest calls when it comes back is the import that it left, or it ends.
 */
import { CaissonError } from '../base/errors.ts'
import { GuestFault } from './abi/guest-memory.ts'
import type { CoreInstance } from './core/core-instance.ts'
import type { SuspendingImport } from './core/core-manifest.ts'
import type { Reentry } from './core/reentry.ts'
import { type Suspension, UnwindArea } from './core/unwind-area.ts'
import type { CoreFunction } from './link/component-function.ts'
import { stuckIn } from './stuck-in.ts'

export class ComponentWait {
  readonly #reentry: Reentry
  #core: CoreInstance | undefined
  #entry: CoreFunction | undefined
  #area: UnwindArea | undefined
  #suspension: Suspension | undefined
  /** What the guest goes back to. */
  #target: Suspension | undefined
  #answer: (() => unknown) | undefined

  /** @param reentry calls of other modules into the one that is unwound */
  constructor(reentry: Reentry) {
    this.#reentry = reentry
  }

  /** The core module that was prepared for it. */
  attach(core: CoreInstance): void {
    this.#core = core
  }

  get core(): CoreInstance | undefined {
    return this.#core
  }

  get suspension(): Suspension | undefined {
    return this.#suspension
  }

  /** Name of the core export that the guest was entered by, and has to be entered by again. */
  get entry(): string | undefined {
    return this.#entry === undefined ? undefined : exportOf(this.#core, this.#entry)
  }

  /** Before the guest is entered. */
  begin(entry: CoreFunction | undefined): void {
    this.#entry = entry
    this.#area = undefined
  }

  /** A guest that was captured. */
  adopt(suspension: Suspension): void {
    this.#suspension = suspension
  }

  /** Before the guest is entered again. @param answer makes the result of the import, inside of it */
  rewind(answer: () => unknown): void {
    const suspension = this.#suspension
    if (suspension === undefined || this.#core === undefined)
      throw new CaissonError('invalid_argument', 'The component does not wait.')
    this.#suspension = undefined
    this.#target = suspension
    this.#answer = answer
    this.#area = UnwindArea.rewind(this.#core.exports, suspension)
  }

  /** The guest calls an import. @returns the core values of the call */
  enter(at: SuspendingImport, core: readonly unknown[]): readonly unknown[] {
    if (this.#area?.rewinds !== true) return core
    const target = this.#target
    this.#area.finishRewind()
    this.#area = undefined
    if (target?.at.module !== at.module || target.at.name !== at.name)
      throw new GuestFault('The guest came back to another call than it left.')
    return target.args
  }

  /** The answer that this call came back for. */
  takeAnswer(): (() => unknown) | undefined {
    const answer = this.#answer
    this.#answer = undefined
    this.#target = undefined
    return answer
  }

  /** @param nesting frames of the host below the call @throws GuestStop */
  suspend(at: SuspendingImport, core: readonly unknown[], nesting: number): void {
    const own = this.#core
    const isPrepared = own?.manifest.suspends.some(
      ({ module, name }) => module === at.module && name === at.name,
    )
    const { open, isHidden } = this.#reentry
    const isAlone = nesting === 0 && open === 0 && !isHidden
    if (own === undefined || isPrepared !== true || !isAlone || this.entry === undefined) throw stuckIn(at)
    this.#area = UnwindArea.unwind(own.exports, at, core)
  }

  /** Whether it was on its way out when it trapped: its stack is deeper than can be kept. */
  get unwinds(): boolean {
    return this.#area?.unwinds === true
  }

  /** After the guest returned: whether it waits. */
  finishUnwind(): boolean {
    if (this.#area === undefined) return false
    if (this.#area.rewinds) throw new GuestFault('The guest did not come back to the call that it left.')
    this.#suspension = this.#area.finishUnwind()
    this.#area = undefined
    return true
  }
}

function exportOf(core: CoreInstance | undefined, entry: CoreFunction): string | undefined {
  return core?.manifest.exports.find(({ name, kind }) => kind === 'function' && core.exports[name] === entry)
    ?.name
}
