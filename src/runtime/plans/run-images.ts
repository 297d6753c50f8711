/**
 * Writes images of a run beside its journal, so that whoever goes on with it reads the newest one and what came after.
 *
 * Invariants
 * 1. Nothing waits for an image: it is made between two writes of the journal, and named by a later one.
 * 2. An image shows what the journal has at its place, and never what was not acknowledged.
 * 3. What all images of a run cost stays in proportion to its journal: the next one waits until the journal has grown by
 *    four times the size of the last.
 * 4. An image that cannot be made is none: the journal says the same.
 */
import { digestOf } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import { encodeImage } from '../../graph/run/image-of-state.ts'
import type { RunState } from '../../graph/run/run-state.ts'
import type { Journal } from '../../journal/journal.ts'
import { digestAt, IMAGE_LIMITS, type ImagePolicy, sealImage } from '../../journal/journal-image.ts'
import type { RunOwner } from '../run-owner.ts'
import type { NewestImage } from './known-standings.ts'
import type { PlanRunParts } from './plan-run-parts.ts'
import type { ValueShelves } from './value-shelves.ts'

const DEFAULT_RECORDS = 1_000
const DEFAULT_BYTES = 1024 * 1024
/** By so many times the size of the last image the journal grows before the next one. */
const GROWTH = 4

export interface RunImagesParts extends Pick<PlanRunParts, 'store' | 'sealing'> {
  readonly owner: RunOwner
  readonly policy: ImagePolicy
  readonly state: RunState
  readonly journal: Pick<Journal, 'length'>
  readonly shelves: Pick<ValueShelves, 'name'>
  /** The newest image, and the bytes of the journal that were read after it. */
  readonly from: NewestImage
}

export class RunImages {
  readonly #parts: RunImagesParts
  /** Records that the newest image stands for, and its size. */
  #shown: number
  #imageBytes: number
  /** Bytes of the journal since. */
  #bytes: number
  /** A state that was taken, to be shown once the journal has so many records. */
  #taken: { readonly length: number; readonly state: Uint8Array } | undefined
  #making: Promise<void> | undefined

  constructor(parts: RunImagesParts) {
    this.#parts = parts
    const { records, imageBytes, bytes } = parts.from
    this.#shown = records
    this.#imageBytes = imageBytes
    this.#bytes = bytes
  }

  /** The newest one, and the bytes of the journal since: for whoever goes on with the run. */
  get newest(): NewestImage {
    return { records: this.#shown, imageBytes: this.#imageBytes, bytes: this.#bytes }
  }

  /** The store has acknowledged entries. @param length of the journal with them */
  noteWritten(length: number, bytes: number): void {
    this.#bytes += bytes
    if (this.#taken === undefined && this.#making === undefined && this.#isDue(length)) this.#take()
    const taken = this.#taken
    if (taken === undefined || taken.length > length) return
    this.#taken = undefined
    this.#making = this.#make(taken.length, taken.state)
      // Whatever is wrong with the store shows where the journal is written.
      .catch(() => {})
      .finally(() => {
        this.#making = undefined
      })
  }

  /** Resolves when none is being made. Never rejects. */
  async settled(): Promise<void> {
    await this.#making
  }

  #isDue(length: number): boolean {
    const { records = DEFAULT_RECORDS, bytes = DEFAULT_BYTES } = this.#parts.policy
    if (length - this.#shown < records && this.#bytes < bytes) return false
    return this.#bytes >= GROWTH * this.#imageBytes
  }

  /** The state may be ahead of what is written: it is of all that was added so far. */
  #take(): void {
    const { state, journal } = this.#parts
    // What could not be added to the journal ends the run: it is shown to nobody.
    if (state.events !== journal.length) return
    this.#shown = state.events
    this.#bytes = 0
    try {
      this.#taken = { length: state.events, state: encodeImage(state, IMAGE_LIMITS) }
    } catch (error) {
      if (!CaissonError.is(error)) throw error
      // Too large for one, or with a value too deep: it is tried again when the run has grown by as much.
    }
  }

  async #make(length: number, state: Uint8Array): Promise<void> {
    const { store, sealing, owner, shelves } = this.#parts
    const digest = await digestAt(store, owner.run, length)
    if (digest === undefined) return
    const sealed = await sealImage({ ...owner, sealing }, { length, digest }, state)
    const id = digestOf(sealing.ports.hash.sha256(sealed))
    await store.putBlob(id, sealed)
    this.#imageBytes = sealed.length
    shelves.name({ digest: id, length })
  }
}
