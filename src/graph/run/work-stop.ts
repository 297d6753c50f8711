/**
 * What stops one piece of work of a run.
 *
 * Not an AbortController: in Node making a signal takes longer than all the rest of a call, and few pieces of work look
 * at one. Who does gets a real one, made on first use.
 */
import { StopSource } from '../../capability/stop.ts'

/** What a piece of work sees of it: whoever hands it an AbortController does as well. */
export interface WithSignal {
  readonly signal: AbortSignal
}

export class WorkStop extends StopSource implements WithSignal {
  #controller: AbortController | undefined
  #reason: unknown

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.stopped) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  /** Raises it; later calls do nothing. @param reason of the signal */
  abort(reason: unknown): void {
    if (this.stopped) return
    this.#reason = reason
    this.stop()
    this.#controller?.abort(reason)
  }
}
