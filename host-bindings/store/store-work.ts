/**
 * The work of a store, from its first operation until it is closed.
 *
 * 1. Once closing has begun, nothing begins any more.
 * 2. Closing waits for what has begun: the files and connections that it needs stay open.
 * 3. What fails says what the store was doing.
 */
import type { CaissonError } from '../../src/base/errors.ts'
import { storeClosed } from './store-refusals.ts'

export class StoreWork {
  readonly #failure: (doing: string, cause: unknown) => CaissonError
  /** What has begun and not ended. */
  readonly #pending = new Set<Promise<unknown>>()
  #closing: Promise<void> | undefined

  /** @param failure the typed error for what happened while the store was `doing` something */
  constructor(failure: (doing: string, cause: unknown) => CaissonError) {
    this.#failure = failure
  }

  get isClosing(): boolean {
    return this.#closing !== undefined
  }

  /** Runs `act`. @throws CaissonError `disposed` when the store is closed, and what became of failures of `act` */
  async do<T>(doing: string, act: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) throw storeClosed()
    try {
      return await this.untilEnded(act())
    } catch (error) {
      throw this.#failure(doing, error)
    }
  }

  /** Closing waits for it. */
  async untilEnded<T>(result: Promise<T>): Promise<T> {
    const ended = result.then(
      () => {},
      () => {},
    )
    this.#pending.add(ended)
    try {
      return await result
    } finally {
      this.#pending.delete(ended)
    }
  }

  /** Ends the work, once: `end` closes what it needed, when all that has begun has ended. */
  close(end: () => Promise<void>): Promise<void> {
    this.#closing ??= Promise.all(this.#pending).then(end)
    return this.#closing
  }
}
