/**
 * What a guest may have of listings of directories at once. Each is a copy of all names, which the host keeps and no
 * limit of the guest's counts: a thousand of a full directory take half a gigabyte.
 */
import { FileFailure } from './file-failure.ts'

/** Entries of all listings; a single one may be longer. */
const MOST_ENTRIES = 100_000

export class ListingRoom {
  #entries = 0

  /** @throws FileFailure `too-many-open`; nothing is counted then */
  take(entries: number): void {
    if (this.#entries > 0 && this.#entries + entries > MOST_ENTRIES) throw new FileFailure('too-many-open')
    this.#entries += entries
  }

  give(entries: number): void {
    this.#entries -= entries
  }
}
