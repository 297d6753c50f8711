/** Work on one run happens one after the other within a store; work on different runs side by side. */
export class RunQueue {
  readonly #last = new Map<string, Promise<unknown>>()

  /** Runs `act` when everything before it on this run has ended. */
  run<T>(run: string, act: () => Promise<T>): Promise<T> {
    const result = (this.#last.get(run) ?? Promise.resolve()).then(act)
    const settled = result
      .catch(() => {})
      .then(() => {
        if (this.#last.get(run) === settled) this.#last.delete(run)
      })
    this.#last.set(run, settled)
    return result
  }
}
