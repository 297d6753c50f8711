/**
 * Where Asyncify keeps the stack of a guest while it unwinds and rewinds: borrowed from the end of the guest's memory.
 *
 * 1. The bytes that are borrowed are put back before any code of the guest can look at them: while it unwinds and
 *    rewinds none of it runs. So a suspended guest has the memory of one that was never suspended, and no part of its
 *    memory has to be set aside.
 * 2. Between unwinding and rewinding the stack is data of the host, bounded by the area. A stack that does not fit
 *    traps inside the module.
 */
import { CaissonError } from '../../base/errors.ts'
import type { SuspendingImport } from './core-manifest.ts'
import { MEMORY_EXPORT } from './expose-state.ts'

/** A guest that waits: plain data. */
export interface Suspension {
  readonly at: SuspendingImport
  readonly args: readonly unknown[]
  /** Its stack, as Asyncify writes it, without its head. */
  readonly stack: Uint8Array
}

/** Most bytes that a stack may take. */
const MOST_STACK: number = 256 * 1024
/** Two words: where the stack ends now, and where it must end. */
const HEAD = 8

interface AsyncifyExports {
  readonly asyncify_start_unwind: (area: number) => void
  readonly asyncify_stop_unwind: () => void
  readonly asyncify_start_rewind: (area: number) => void
  readonly asyncify_stop_rewind: () => void
}

export class UnwindArea {
  readonly #exports: AsyncifyExports
  readonly #memory: WebAssembly.Memory
  readonly #start: number
  readonly #borrowed: Uint8Array
  readonly #waits: Omit<Suspension, 'stack'>
  readonly unwinds: boolean
  readonly rewinds: boolean

  private constructor(
    exports: Readonly<Record<string, unknown>>,
    waits: Omit<Suspension, 'stack'>,
    unwinds: boolean,
  ) {
    this.#exports = exports as unknown as AsyncifyExports
    this.#memory = exports[MEMORY_EXPORT] as WebAssembly.Memory
    const bytes = new Uint8Array(this.#memory.buffer)
    if (bytes.length < HEAD)
      throw new CaissonError('unsupported', 'A guest with an empty memory cannot be suspended.')
    this.#start = Math.max(0, bytes.length - HEAD - MOST_STACK)
    this.#borrowed = bytes.slice(this.#start)
    this.#waits = waits
    this.unwinds = unwinds
    this.rewinds = !unwinds
  }

  /** From inside of the import: the guest goes back to where it was entered. */
  static unwind(
    exports: Readonly<Record<string, unknown>>,
    at: SuspendingImport,
    args: readonly unknown[],
  ): UnwindArea {
    const area = new UnwindArea(exports, { at, args }, true)
    area.#writeHead(0)
    area.#exports.asyncify_start_unwind(area.#start)
    return area
  }

  /** Before the guest is entered again: it goes to where it was suspended. */
  static rewind(exports: Readonly<Record<string, unknown>>, suspension: Suspension): UnwindArea {
    const area = new UnwindArea(exports, suspension, false)
    const { stack } = suspension
    if (stack.length > area.#borrowed.length - HEAD) {
      throw new CaissonError('corrupted', 'The stack of the suspended guest does not fit into its memory.')
    }
    new Uint8Array(area.#memory.buffer).set(stack, area.#start + HEAD)
    area.#writeHead(stack.length)
    area.#exports.asyncify_start_rewind(area.#start)
    return area
  }

  #writeHead(stackBytes: number): void {
    const view = new DataView(this.#memory.buffer)
    view.setUint32(this.#start, this.#start + HEAD + stackBytes, true)
    view.setUint32(this.#start + 4, this.#start + this.#borrowed.length, true)
  }

  /** After the guest returned, unwound. */
  finishUnwind(): Suspension {
    const view = new DataView(this.#memory.buffer)
    const first = this.#start + HEAD
    const end = view.getUint32(this.#start, true)
    if (end < first || end > this.#start + this.#borrowed.length) {
      throw new CaissonError('corrupted', 'The guest left its stack outside of the area for it.')
    }
    const stack = new Uint8Array(this.#memory.buffer).slice(first, end)
    // Before the area is given back: it looks whether the stack that it finds there fits.
    this.#exports.asyncify_stop_unwind()
    this.#putBack()
    return { ...this.#waits, stack }
  }

  /** From inside of the import, which then returns the answer. */
  finishRewind(): void {
    this.#exports.asyncify_stop_rewind()
    this.#putBack()
  }

  #putBack(): void {
    new Uint8Array(this.#memory.buffer).set(this.#borrowed, this.#start)
  }
}
