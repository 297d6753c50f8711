/**
 * Long work in short steps: after so many bytes the host has its turn.
 *
 * Bytes and not time, so that equal input takes equal steps, also where clocks stand still while code runs.
 */

/** Hashed in less than a millisecond in plain JavaScript (bench: checkpoint). */
const STEP_BYTES = 131_072

export class Pacer {
  readonly #pause: () => Promise<void>
  #done = 0

  constructor(pause: () => Promise<void>) {
    this.#pause = pause
  }

  /** Notes work on so many bytes. Undefined unless it is time to wait, so that short work takes no turn at all. */
  spend(bytes: number): Promise<void> | undefined {
    this.#done += bytes
    if (this.#done < STEP_BYTES) return undefined
    this.#done = 0
    return this.#pause()
  }
}

/** Pieces of `bytes`, each about a step long. */
export function* steps(bytes: Uint8Array): Iterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += STEP_BYTES) yield bytes.subarray(at, at + STEP_BYTES)
}

/** Whether work on so many bytes fits in one step. */
export function isOneStep(bytes: number): boolean {
  return bytes <= STEP_BYTES
}
