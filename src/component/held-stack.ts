/**
 * How a component waits where its engine can hold its stack: its frames stay, and cannot be captured.
 *
 * Invariants
 * 1. It waits in calls of the host's only, with no frame of the host between them and where it was entered. Everywhere
 *    else the call ends the guest, by name.
 * 2. Code of the guest runs from `enter` or `resume` until the promise of either is settled, and at no other time.
 * 3. A guest that nobody resumes is forgotten with its stack: nothing of it runs again.
 */
import { CaissonError } from '../base/errors.ts'
import type { SuspendingImport } from './core/core-manifest.ts'
import { type StackSwitching, stackSwitching } from './core/stack-switching.ts'
import type { ImportWait, MakeAnswer } from './import-wait.ts'
import { type CoreFunction, SUSPENDED } from './link/component-function.ts'
import { stuckIn } from './stuck-in.ts'

export class HeldStack implements ImportWait {
  readonly #switching: StackSwitching
  /** Imports that may wait, by what their lowered function is. */
  readonly #waiting = new Map<unknown, WebAssembly.ImportValue>()
  #isEntered = false
  #running: Promise<unknown> | undefined
  #at: SuspendingImport | undefined
  #goOn: ((answer: MakeAnswer) => void) | undefined
  /** Told when the guest waits again. */
  #waits: (() => void) | undefined

  /** @throws CaissonError `unsupported` where the engine holds no stacks */
  static open(): HeldStack {
    const switching = stackSwitching()
    if (switching !== undefined) return new HeldStack(switching)
    throw new CaissonError('unsupported', 'This engine cannot hold the stack of a component (JSPI).')
  }

  private constructor(switching: StackSwitching) {
    this.#switching = switching
  }

  /** Which import it waits in. */
  get at(): SuspendingImport | undefined {
    return this.#at
  }

  /** The core function of an import that may wait. */
  add(lowered: CoreFunction): void {
    this.#waiting.set(lowered, this.#switching.suspending(lowered))
  }

  /** Imports of a core module, as it has to be given them. */
  imports(
    given: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  ): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
    if (this.#waiting.size === 0) return given
    const all: Record<string, Record<string, unknown>> = Object.create(null)
    for (const [module, own] of Object.entries(given)) {
      const made: Record<string, unknown> = Object.create(null)
      for (const [name, value] of Object.entries(own)) made[name] = this.#waiting.get(value) ?? value
      all[module] = made
    }
    return all
  }

  /** @returns what the export returned, or `SUSPENDED` */
  enter(entry: CoreFunction, args: readonly unknown[]): Promise<unknown> {
    this.#isEntered = true
    this.#running = this.#switching.promising(entry)(...args)
    return this.#outcome()
  }

  /** @returns as `enter` @throws CaissonError `invalid_argument` */
  resume(answer: MakeAnswer): Promise<unknown> {
    const goOn = this.#goOn
    if (goOn === undefined) throw new CaissonError('invalid_argument', 'The component does not wait.')
    this.#goOn = undefined
    this.#at = undefined
    goOn(answer)
    return this.#outcome()
  }

  /** From inside of the import. @param nesting frames of the host below it @throws CaissonError `unsupported` */
  suspend(at: SuspendingImport, nesting: number): Promise<MakeAnswer> {
    if (!this.#isEntered || nesting !== 0) throw stuckIn(at)
    this.#at = at
    const answer = new Promise<MakeAnswer>((resolve) => {
      this.#goOn = resolve
    })
    this.#waits?.()
    return answer
  }

  async #outcome(): Promise<unknown> {
    const waits = new Promise<typeof SUSPENDED>((resolve) => {
      this.#waits = () => resolve(SUSPENDED)
      if (this.#goOn !== undefined) resolve(SUSPENDED)
    })
    let isOver = true
    try {
      const come = await Promise.race([this.#running, waits])
      isOver = this.#goOn === undefined
      return come
    } finally {
      this.#waits = undefined
      if (isOver) this.#forget()
    }
  }

  #forget(): void {
    this.#isEntered = false
    this.#running = undefined
  }
}
