/** What the eraser will not turn into JavaScript, by name: with the place, and with what to write instead. */
export class Refusal extends Error {
  /** UTF-16 index into the author's source. */
  readonly index: number

  /** @param next what the author can do */
  constructor(index: number, what: string, next: string) {
    super(`${what}: ${next}`)
    this.index = index
  }
}
