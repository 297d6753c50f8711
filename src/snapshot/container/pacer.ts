/**
 * Long work in short steps: after so many bytes the host has its turn.
 *
 * Bytes and not time, so that equal input takes equal steps, also where clocks stand still while code runs.
 */

/** Hashed in less than a millisecond in plain JavaScript (bench: checkpoint). */
const STEP_BYTES = 131_072

/** Bytes that are copied in the time in which one is hashed: into memory that is touched for the first time. */
const COPIES = 2

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

/** One array of all parts after each other, and `after` bytes of room: at once if it is short. */
export function joinInSteps(
  parts: readonly Uint8Array[],
  pacer: Pacer,
  after = 0,
): Uint8Array | Promise<Uint8Array> {
  let length = after
  for (const part of parts) length += part.length
  const whole = new Uint8Array(length)
  if (!isOneStep(length / COPIES)) return fillInSteps(whole, parts, pacer)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

async function fillInSteps(
  whole: Uint8Array,
  parts: readonly Uint8Array[],
  pacer: Pacer,
): Promise<Uint8Array> {
  let at = 0
  for (const part of parts) {
    for (let from = 0; from < part.length; from += COPIES * STEP_BYTES) {
      const step = part.subarray(from, from + COPIES * STEP_BYTES)
      whole.set(step, at)
      at += step.length
      const pause = pacer.spend(step.length / COPIES)
      if (pause !== undefined) await pause
    }
  }
  return whole
}
