/**
 * Entries of the log of a kept run to bytes and back: UTF-8 of their tagged JSON, sealed (`entry-seal.ts`).
 */
import type { ValueLimits } from '../../values/limits.ts'
import { decodeOrdered, encodeOrdered } from '../../values/ordered-bytes.ts'
import { type EntryPlace, EntrySeal, type EntrySealOptions } from './entry-seal.ts'
import { parseRunEntry } from './parse-entry.ts'
import type { RunEntry } from './run-entry.ts'

/** Of one entry: a result may be as large as a capability's may. */
const ENTRY_LIMITS: ValueLimits = { bytes: 64 * 1024 * 1024, nodes: 4_000_000, depth: 600 }

/** Seals the entries of one log one after the other, or opens them so. */
export class EntryCodec {
  readonly #seal: EntrySeal

  constructor(options: EntrySealOptions) {
    this.#seal = new EntrySeal(options, 'log')
  }

  /** @throws CaissonError `value_too_large` */
  seal(entry: RunEntry, place: EntryPlace): Promise<Uint8Array> {
    return this.#seal.seal(encodeOrdered(entry, ENTRY_LIMITS), place)
  }

  /** @throws CaissonError `corrupted`, `checkpoint_refused` for another key, `encryption_required` */
  async open(sealed: Uint8Array, place: EntryPlace): Promise<RunEntry> {
    return parseRunEntry(decodeOrdered(await this.#seal.open(sealed, place), ENTRY_LIMITS))
  }
}
