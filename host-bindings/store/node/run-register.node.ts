/**
 * One state per run that processes replace without a lock: numbered files, of which the highest counts.
 *
 * 1. State `n + 1` is made by giving a finished, durable file its name with `link`, which fails where the name exists:
 *    of two who replace the same state, one wins. No clock, no lock file, nothing to clean up after a crash.
 * 2. The highest state is never removed. So a late writer who knows an old number may at most make a state that is
 *    lower than the highest, which counts for nothing; after linking everybody looks whether theirs is the highest.
 * 3. The states just before the highest stay for a while: a listing that overlaps with changes still meets one of
 *    them, and so shows a state that was the current one when it began.
 * 4. A state that stands alone and is not a run's first is the last one of a run that is being removed, or came from a
 *    late writer after that: it counts for nothing.
 * 5. A state is acknowledged when the folder was synced after it got its name. Where that failed, it is not shown by
 *    this process either before the folder was synced.
 */
import { decodeRunState, encodeRunState, MAX_STATE_BYTES, type RunState } from './run-state.node.ts'
import { damaged, errnoOf } from './store-error.ts'
import { readWhole, removeQuietly, writeTemporary } from './store-files.node.ts'
import type { StoreFolder } from './store-folder.ts'

/** A state, and the number to replace it by. */
export interface NumberedState {
  readonly number: number
  readonly state: RunState
}

/** States that stay, the highest among them. Each costs two syncs to make; a listing takes microseconds. */
const KEPT = 4
const STATE = /^state-([1-9][0-9]{0,14})$/
/** Times that a state may be replaced while it is read before this gives up. */
const MAX_ATTEMPTS = 1_000

export class RunRegister {
  readonly #folder: StoreFolder
  #known: NumberedState | undefined
  #synced = true

  /** @param folder of the run; nothing else makes files named `state-…` in it */
  constructor(folder: StoreFolder) {
    this.#folder = folder
  }

  /**
   * The current state; undefined where there is none. Reads the file only when its number is new.
   * @throws CaissonError `corrupted`
   */
  async read(): Promise<NumberedState | undefined> {
    await this.#sync()
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const numbers = numbersOf(await this.#folder.list())
      const number = numbers.at(-1)
      if (number === undefined) return undefined
      if (this.#known?.number === number) return this.#unlessAlone(numbers, this.#known)
      const bytes = await readWhole(this.#folder, fileOf(number), MAX_STATE_BYTES)
      // It may have been replaced several times since, and removed.
      if (bytes === undefined) continue
      this.#known = { number, state: decodeRunState(bytes) }
      return this.#unlessAlone(numbers, this.#known)
    }
    throw damaged('the state of a run cannot be read')
  }

  /**
   * Replaces state `number` by the next. Where there is none, any number will do, and `state` is the first.
   * @returns the new state as it is now the current one, or undefined when somebody else was faster
   */
  async advance(number: number, state: RunState): Promise<NumberedState | undefined> {
    const folder = this.#folder
    const next = number + 1
    const bytes = encodeRunState(state)
    const temporary = await writeTemporary(folder, bytes)
    try {
      // From here on it may have its name, whatever is said about it.
      this.#synced = false
      await folder.link(temporary, fileOf(next))
    } catch (error) {
      // ENOENT: a collection took the unfinished file for a dead one's.
      if (errnoOf(error) === 'EEXIST' || errnoOf(error) === 'ENOENT') return undefined
      throw error
    } finally {
      await removeQuietly(folder, temporary)
    }
    await this.#sync()
    const numbers = numbersOf(await folder.list())
    if (numbers.at(-1) !== next) return this.#superseded(bytes)
    this.#known = { number: next, state }
    if (this.#unlessAlone(numbers, this.#known) === undefined) {
      await removeQuietly(folder, fileOf(next))
      return undefined
    }
    for (const old of numbers) if (old <= next - KEPT) await removeQuietly(folder, fileOf(old))
    return this.#known
  }

  /** Invariant 5. */
  async #sync(): Promise<void> {
    if (this.#synced) return
    await this.#folder.sync()
    this.#synced = true
  }

  /** Invariant 4. */
  #unlessAlone(numbers: readonly number[], current: NumberedState): NumberedState | undefined {
    return numbers.length > 1 || current.state.first ? current : undefined
  }

  /** Ours got its name, and is not the highest: it came too late, unless it was only touched since. */
  async #superseded(bytes: Uint8Array): Promise<NumberedState | undefined> {
    const current = await this.read()
    return current && isEqual(encodeRunState(current.state), bytes) ? current : undefined
  }

  /**
   * Gives the current state the next number, so that whoever is about to replace it has to look again. It is the same
   * file under another name: nothing is written, and nothing is lost if the name is.
   */
  async touch(number: number): Promise<void> {
    try {
      await this.#folder.link(fileOf(number), fileOf(number + 1))
    } catch (error) {
      // Somebody else replaced it, which does the same.
      if (errnoOf(error) !== 'EEXIST' && errnoOf(error) !== 'ENOENT') throw error
    }
  }
}

function isEqual(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, index) => byte === right[index])
}

function fileOf(number: number): string {
  return `state-${number}`
}

/** Ascending. */
function numbersOf(names: readonly string[]): readonly number[] {
  const numbers = names.flatMap((name) => {
    const [, digits] = STATE.exec(name) ?? []
    return digits === undefined ? [] : [Number(digits)]
  })
  return numbers.sort((left, right) => left - right)
}
