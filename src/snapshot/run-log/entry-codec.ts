/**
 * Entries of the log of a kept run to bytes and back: UTF-8 of their tagged JSON, sealed (`entry-seal.ts`).
 */
import { type Digest, digestOf } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import type { ValueLimits } from '../../values/limits.ts'
import { decodeOrdered, encodeOrdered } from '../../values/ordered-bytes.ts'
import { type EntryPlace, EntrySeal, type EntrySealOptions } from './entry-seal.ts'
import { parseRunEntry } from './parse-entry.ts'
import type { RunEntry } from './run-entry.ts'

/** Stores take entries of 64 MiB; sealing one adds less than the rest. */
const MOST_PLAIN_BYTES = 64 * 1024 * 1024 - 4_096
/** Of one entry: a result may be as large as a capability's may. */
const ENTRY_LIMITS: ValueLimits = { bytes: 64 * 1024 * 1024, nodes: 4_000_000, depth: 600 }

/** Seals the entries of one log one after the other, or opens them so. */
export class EntryCodec {
  readonly #seal: EntrySeal

  constructor(options: EntrySealOptions) {
    this.#seal = new EntrySeal(options, 'log')
  }

  /** Of the last entry that was sealed or opened, which stands for all before it. */
  get last(): Digest | undefined {
    return this.#seal.last && digestOf(this.#seal.last)
  }

  /**
   * What an entry is sealed from. It can be several times as long as what a guest passed or got.
   * @throws CaissonError `value_too_large` for one that no store takes
   */
  static encode(entry: RunEntry): Uint8Array {
    const plain = encodeOrdered(entry, ENTRY_LIMITS)
    if (plain.length <= MOST_PLAIN_BYTES) return plain
    throw new CaissonError(
      'value_too_large',
      `An entry of type "${entry.type}" would have ${plain.length} bytes in the log, which takes ${MOST_PLAIN_BYTES}.`,
      { details: { bytes: plain.length, max: MOST_PLAIN_BYTES } },
    )
  }

  /** @throws CaissonError `value_too_large` */
  async seal(entry: RunEntry, place: EntryPlace): Promise<Uint8Array> {
    return this.sealEncoded(EntryCodec.encode(entry), place)
  }

  /** @param plain as `encode` gives it */
  sealEncoded(plain: Uint8Array, place: EntryPlace): Promise<Uint8Array> {
    return this.#seal.seal(plain, place)
  }

  /** @throws CaissonError `corrupted`, `checkpoint_refused` for another key, `encryption_required` */
  async open(sealed: Uint8Array, place: EntryPlace): Promise<RunEntry> {
    return parseRunEntry(decodeOrdered(await this.#seal.open(sealed, place), ENTRY_LIMITS))
  }
}
