/**
 * The place in the line of one guest: held while the guest is at work, and given to others while it sleeps.
 *
 * Invariants
 * 1. A guest that waits for nothing but its own timers keeps nobody else waiting, unless it has a Worker to itself:
 *    there are no more Workers than places.
 * 2. However a guest ends, its place is given back exactly once, also where it ended while it waited for it.
 */
import type { Stop } from '../capability/stop.ts'
import type { GuestLine } from './guest-line.ts'
import type { RunOptions } from './options.ts'

/** Whether the guest has a Worker to itself: it keeps its place with it, also while it sleeps. */
export function holdsThread({ thread }: Pick<RunOptions, 'thread'>): boolean {
  return thread === 'worker'
}

export class LinePlace {
  readonly #line: GuestLine
  readonly #domain: string
  #held: boolean

  /** @param held whether the guest has entered the line */
  constructor(line: GuestLine, domain: string, held: boolean) {
    this.#line = line
    this.#domain = domain
    this.#held = held
  }

  /** Takes a step of a guest that lives already when it is its turn. */
  readonly atWork = async <T>(step: () => Promise<T>): Promise<T> => {
    await this.#line.enterAgain(this.#domain)
    this.#held = true
    try {
      return await step()
    } finally {
      this.leave()
    }
  }

  /** Leaves the line during `sleep`, and resolves when it is the guest's turn again, or when it has been stopped. */
  readonly asleep = async (sleep: () => Promise<void>, stop: Stop): Promise<void> => {
    this.leave()
    await sleep()
    if (stop.stopped) return
    let forget: (() => void) | undefined
    const stopped = new Promise<void>((resolve) => {
      forget = stop.onStop(resolve)
    })
    let wanted = true
    const entered = Promise.resolve(this.#line.enterAgain(this.#domain)).then(() => {
      if (wanted) this.#held = true
      else this.#line.leave(this.#domain)
    })
    await Promise.race([entered, stopped])
    wanted = false
    forget?.()
  }

  /** Gives the place back; does nothing where the guest has none. */
  leave(): void {
    if (!this.#held) return
    this.#held = false
    this.#line.leave(this.#domain)
  }
}
