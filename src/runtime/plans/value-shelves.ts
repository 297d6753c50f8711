/**
 * Which values a run of a plan needs, written where collecting garbage looks: in its head. Lists of any length go to
 * heads of their own, on shelves beside the run.
 *
 * Invariants
 * 1. A value is on the list before an event that names it is in the journal.
 * 2. A shelf is written whole before its values leave the list of the run.
 * 3. A head with a position names, after the plan, the image of the journal up to there.
 */
import type { Digest } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import type { RunHead, RunLease } from '../../ports/run-store.ts'
import { encodePlanSummary, type PlanSummary, SHELF_SUMMARY } from '../plan-summary.ts'
import { giveBack, type WatchedStore } from '../watched-store.ts'
import { shelfName } from './part-names.ts'

/** Fewer than a head takes. */
const MOST_LISTED = 900
const SHELF_LEASE_MS = 15_000

export interface ShelvesOptions {
  readonly store: WatchedStore
  readonly run: string
  readonly plan: Digest
  readonly lease: RunLease
  readonly head: RunHead | undefined
}

/** An image in the store, and how many entries of the journal it stands for. */
export interface NamedImage {
  readonly digest: Digest
  readonly length: number
}

/** The image that a head names. */
export function namedImage(head: RunHead | undefined): NamedImage | undefined {
  const digest = head?.chain[1]
  return head === undefined || head.position === 0 || digest === undefined
    ? undefined
    : { digest, length: head.position }
}

export class ValueShelves {
  readonly #options: ShelvesOptions
  #head: RunHead | undefined
  #summary: Uint8Array
  /** An image that the next head is to name. */
  #made: NamedImage | undefined

  constructor(options: ShelvesOptions) {
    this.#options = options
    this.#head = options.head
    this.#summary = options.head?.summary ?? new Uint8Array()
  }

  /** Values of the list of the run. */
  get listed(): readonly Digest[] {
    const image = namedImage(this.#head)?.digest
    return (this.#head?.chain ?? []).filter((digest) => digest !== image)
  }

  /** An image is in the store: the head names it from the next time on that it is written. */
  name(image: NamedImage): void {
    this.#made = image
  }

  /** @returns undefined where nothing is to be written. @throws CaissonError what the store throws */
  add(values: readonly Digest[]): Promise<void> | undefined {
    const isThere = values.length === 0 && this.#head !== undefined && this.#made === undefined
    return isThere ? undefined : this.#add(values)
  }

  async #add(values: readonly Digest[]): Promise<void> {
    const { plan } = this.#options
    const listed = this.listed.filter((digest) => digest !== plan)
    const added = values.filter((digest) => !listed.includes(digest))
    const isFull = listed.length + added.length > MOST_LISTED
    if (isFull) for (const some of pieces(listed, MOST_LISTED)) await this.#shelve(some)
    const kept = isFull ? added : [...added, ...listed]
    for (const some of pieces(kept.slice(MOST_LISTED), MOST_LISTED)) await this.#shelve(some)
    await this.#write([plan, ...kept.slice(0, MOST_LISTED)])
  }

  /** What lists show of the run. Written only where it says something else than before. */
  async tell(summary: PlanSummary): Promise<void> {
    const bytes = encodePlanSummary(summary)
    if (this.#head !== undefined && sameTale(bytes, this.#summary) && this.#made === undefined) return
    this.#summary = bytes
    await this.#write(this.#head === undefined ? [this.#options.plan] : this.listed)
  }

  async #write(listed: readonly Digest[]): Promise<void> {
    const made = this.#made
    this.#made = undefined
    const before = namedImage(this.#head)
    if (made === undefined) return this.#setHead(listed, before)
    try {
      await this.#setHead(listed, made)
    } catch (error) {
      // It was collected before anything named it: the run goes on without it.
      if (!CaissonError.is(error, 'invalid_argument')) throw error
      await this.#setHead(listed, before)
    }
  }

  async #setHead([plan, ...values]: readonly Digest[], image: NamedImage | undefined): Promise<void> {
    const { store, run, lease } = this.#options
    const version = (this.#head?.version ?? 0) + 1
    const first = [plan, image?.digest].filter((digest) => digest !== undefined)
    const chain = [...first, ...values]
    const head: RunHead = { version, chain, position: image?.length ?? 0, summary: this.#summary }
    await store.setHead(run, head, lease)
    this.#head = head
  }

  async #shelve(values: readonly Digest[]): Promise<void> {
    const { store, run } = this.#options
    for (let number = 1; ; number += 1) {
      const name = shelfName(run, number)
      if ((await store.head(name)) !== undefined) continue
      const lease = await store.lease(name, SHELF_LEASE_MS)
      try {
        await store.setHead(name, { version: 1, chain: values, position: 0, summary: SHELF_SUMMARY }, lease)
        return
      } finally {
        await giveBack(lease)
      }
    }
  }
}

function pieces(list: readonly Digest[], most: number): readonly (readonly Digest[])[] {
  const all: (readonly Digest[])[] = []
  for (let at = 0; at < list.length; at += most) all.push(list.slice(at, at + most))
  return all
}

function sameTale(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i])
}
