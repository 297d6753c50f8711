/**
 * How a component waits where its engine can hold its stack: its frames stay, and cannot be captured.
 *
 * Invariants
 * 1. It waits in calls of the host's only, with no frame of the host between them and where it was entered. Everywhere
 *    else the call ends the guest, by name.
 * 2. Code of the guest runs from `enter` or `resume` until the promise of either is settled. After `abandon` it runs to
 *    its next check, which stops it: an engine keeps a stack, and all that it reaches, for as long as it waits.
 */
import { CaissonError } from '../base/errors.ts'
import type { SuspendingImport } from './core/core-manifest.ts'
import { type StackSwitching, stackSwitching } from './core/stack-switching.ts'
import type { ImportWait, MakeAnswer } from './import-wait.ts'
import { type CoreFunction, SUSPENDED } from './link/component-function.ts'
import { stuckIn } from './stuck-in.ts'

/** Whoever waits for a turn to be over. */
interface Turn {
  resolve(returned: unknown): void
  reject(thrown: unknown): void
}

export class HeldStack implements ImportWait {
  readonly #switching: StackSwitching
  /** Imports that may wait, by what their lowered function is. */
  readonly #waiting = new Map<unknown, WebAssembly.ImportValue>()
  #isEntered = false
  #turn: Turn | undefined
  #at: SuspendingImport | undefined
  #goOn: ((answer: MakeAnswer) => void) | undefined

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
    return this.#take(() => {
      this.#isEntered = true
      // What is exported may be an import, which is a function of the host's.
      const isHosts = this.#waiting.has(entry)
      const running = isHosts ? Promise.resolve(entry(...args)) : this.#switching.promising(entry)(...args)
      running.then(
        (returned) => this.#over((turn) => turn.resolve(returned)),
        (thrown: unknown) => this.#over((turn) => turn.reject(thrown)),
      )
    })
  }

  /** @returns as `enter` @throws CaissonError `invalid_argument` */
  resume(answer: MakeAnswer): Promise<unknown> {
    if (this.#goOn === undefined) throw new CaissonError('invalid_argument', 'The component does not wait.')
    return this.#take(() => this.#answer(answer))
  }

  /** The guest has to stop by now, and is let run to where it does. */
  abandon(): void {
    if (this.#goOn !== undefined) this.#answer(() => undefined)
  }

  /** From inside of the import. @param nesting frames of the host below it @throws CaissonError `unsupported` */
  suspend(at: SuspendingImport, nesting: number): Promise<MakeAnswer> {
    if (!this.#isEntered || nesting !== 0) throw stuckIn(at)
    this.#at = at
    const answer = new Promise<MakeAnswer>((resolve) => {
      this.#goOn = resolve
    })
    this.#turn?.resolve(SUSPENDED)
    this.#turn = undefined
    return answer
  }

  #take(act: () => void): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#turn = { resolve, reject }
      act()
    })
  }

  #answer(answer: MakeAnswer): void {
    const goOn = this.#goOn
    this.#goOn = undefined
    this.#at = undefined
    goOn?.(answer)
  }

  #over(tell: (turn: Turn) => void): void {
    this.#isEntered = false
    if (this.#turn !== undefined) tell(this.#turn)
    this.#turn = undefined
  }
}
