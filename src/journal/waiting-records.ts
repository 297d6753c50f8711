/**
 * Records that wait to be written, one after the other in one piece of memory: a typed array for each takes longer to
 * make than its bytes take to write (`npm run bench -- graph`, a step of a chain).
 *
 * Invariant: what was pushed is copied, and what was taken is not touched again.
 */

const CAPACITY = 4_096
/** What a larger write took is given back. */
const MOST_KEPT = 256 * 1024

export class WaitingRecords {
  readonly #headBytes: number
  #bytes = new Uint8Array(CAPACITY)
  /** Where each of them ends. */
  #ends: number[] = []

  /** @param headBytes that are left before each of them, with anything in them */
  constructor(headBytes: number) {
    this.#headBytes = headBytes
  }

  get length(): number {
    return this.#ends.length
  }

  readonly push = (record: Uint8Array): void => {
    const at = (this.#ends.at(-1) ?? 0) + this.#headBytes
    const end = at + record.length
    if (end > this.#bytes.length) {
      const more = new Uint8Array(Math.max(end, 2 * this.#bytes.length))
      more.set(this.#bytes)
      this.#bytes = more
    }
    this.#bytes.set(record, at)
    this.#ends.push(end)
  }

  /** All of them, each with its head, in memory of their own. */
  take(): Uint8Array[] {
    const { buffer } = this.#bytes.slice(0, this.#ends.at(-1) ?? 0)
    const records: Uint8Array[] = []
    let at = 0
    for (const end of this.#ends) {
      records.push(new Uint8Array(buffer, at, end - at))
      at = end
    }
    this.#ends = []
    if (this.#bytes.length > MOST_KEPT) this.#bytes = new Uint8Array(CAPACITY)
    return records
  }
}
