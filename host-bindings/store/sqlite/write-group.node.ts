/**
 * Changes of many runs in one transaction: a sync of the disk takes longer than all of them, and one is enough.
 *
 * 1. A change is acknowledged when the transaction that it is in was committed, and is durable then.
 * 2. A change that is refused changes nothing, and does not keep the others from happening: it throws a `CaissonError`
 *    before it writes anything.
 * 3. When the database fails, nothing of the group has happened; then each change is tried alone, so that one that does
 *    not fit fails alone.
 */
import { CaissonError } from '../../../src/base/errors.ts'
import { patiently } from './patience.ts'
import type { SqliteConnection } from './sqlite-connection.ts'

/** Bounds for how long one transaction keeps the host's thread, and other processes. */
const MOST_CHANGES = 256
const MOST_BYTES = 8 * 1024 * 1024

interface Change {
  readonly act: () => unknown
  readonly bytes: number
  resolve(result: unknown): void
  reject(error: unknown): void
}

export class WriteGroup {
  readonly #connection: SqliteConnection
  readonly #patienceMs: number
  readonly #afterCommit: () => void
  #waiting: Change[] = []
  #working: Promise<void> | undefined

  /**
   * @param patienceMs how long to wait for other processes
   * @param afterCommit throws where what was committed is not to be acknowledged
   */
  constructor(connection: SqliteConnection, patienceMs: number, afterCommit: () => void) {
    this.#connection = connection
    this.#patienceMs = patienceMs
    this.#afterCommit = afterCommit
  }

  /**
   * Makes a change, together with all that are asked for in the same turn of the event loop.
   * @param act synchronous; may be called more than once, each time after everything was undone
   * @param bytes about so many are written
   */
  add<T>(act: () => T, bytes: number = 0): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ act, bytes, resolve: (result) => resolve(result as T), reject })
      this.#working ??= this.#work()
    })
  }

  /** Resolves when nothing is waiting any more. */
  async idle(): Promise<void> {
    while (this.#working !== undefined) await this.#working
  }

  async #work(): Promise<void> {
    while (this.#waiting.length > 0) {
      await new Promise((resolve) => setImmediate(resolve))
      await this.#commit(this.#nextGroup())
    }
    this.#working = undefined
  }

  #nextGroup(): readonly Change[] {
    let size = 0
    let bytes = 0
    for (const change of this.#waiting) {
      bytes += change.bytes
      if (size > 0 && (size === MOST_CHANGES || bytes > MOST_BYTES)) break
      size += 1
    }
    return this.#waiting.splice(0, size)
  }

  async #commit(group: readonly Change[]): Promise<void> {
    let answers: readonly (() => void)[]
    try {
      answers = await patiently(this.#patienceMs, () => this.#transact(group))
    } catch (error) {
      if (group.length === 1) group[0]?.reject(error)
      else for (const change of group) await this.#commit([change]) // invariant 3
      return
    }
    try {
      this.#afterCommit()
    } catch (error) {
      for (const { reject } of group) reject(error)
      return
    }
    for (const answer of answers) answer()
  }

  /** @returns what tells each of them how it went */
  #transact(group: readonly Change[]): readonly (() => void)[] {
    try {
      this.#connection.exec('BEGIN IMMEDIATE')
      const answers = group.map((change) => this.#act(change))
      this.#connection.exec('COMMIT')
      return answers
    } catch (error) {
      // Some errors have rolled it back already.
      if (this.#connection.inTransaction) this.#connection.exec('ROLLBACK')
      throw error
    }
  }

  #act({ act, resolve, reject }: Change): () => void {
    try {
      const result = act()
      return () => resolve(result)
    } catch (error) {
      if (CaissonError.is(error)) return () => reject(error) // invariant 2
      throw error
    }
  }
}
