/** Lets so many guests live at once; the others wait, first come first served, instead of failing. */
import { CaissonError } from '../base/errors.ts'

export class GuestLine {
  readonly #most: number
  readonly #waiting: { readonly enter: () => void; readonly refuse: (error: CaissonError) => void }[] = []
  #inside = 0
  #closed = false

  constructor(most: number) {
    this.#most = most
  }

  /**
   * Resolves when there is room. Whoever entered must leave.
   * @throws CaissonError `aborted` when the signal fires while waiting, `disposed` when the runtime closes
   */
  enter(signal?: AbortSignal): void | Promise<void> {
    if (this.#closed) throw closed()
    if (this.#inside < this.#most) {
      this.#inside += 1
      return
    }
    if (signal?.aborted === true) throw aborted()
    return new Promise((resolve, reject) => {
      const place = {
        enter: () => {
          signal?.removeEventListener('abort', onAbort)
          resolve()
        },
        refuse: (error: CaissonError) => {
          signal?.removeEventListener('abort', onAbort)
          reject(error)
        },
      }
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(place), 1)
        reject(aborted())
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#waiting.push(place)
    })
  }

  leave(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#inside -= 1
    else next.enter()
  }

  close(): void {
    this.#closed = true
    for (const { refuse } of this.#waiting.splice(0)) refuse(closed())
  }
}

function aborted(): CaissonError {
  return new CaissonError('aborted', 'The run was aborted while it waited for its turn.')
}

function closed(): CaissonError {
  return new CaissonError('disposed', 'The runtime was closed; open a new one.')
}
