/**
 * Which values a run of a plan needs, written where collecting garbage looks: in its head. Lists of any length go to
 * heads of their own, on shelves beside the run.
 *
 * Invariants
 * 1. A value is on the list before an event that names it is in the journal.
 * 2. A shelf is written whole before its values leave the list of the run.
 */
import type { Digest } from '../../base/digest.ts'
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

export class ValueShelves {
  readonly #options: ShelvesOptions
  #head: RunHead | undefined
  #summary: Uint8Array

  constructor(options: ShelvesOptions) {
    this.#options = options
    this.#head = options.head
    this.#summary = options.head?.summary ?? new Uint8Array()
  }

  /** Values of the list of the run. */
  get listed(): readonly Digest[] {
    return this.#head?.chain ?? []
  }

  /** @throws CaissonError what the store throws */
  async add(values: readonly Digest[]): Promise<void> {
    if (values.length === 0 && this.#head !== undefined) return
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
    if (this.#head !== undefined && sameTale(bytes, this.#summary)) return
    this.#summary = bytes
    await this.#write(this.#head?.chain ?? [this.#options.plan])
  }

  async #write(chain: readonly Digest[]): Promise<void> {
    const { store, run, lease } = this.#options
    const version = (this.#head?.version ?? 0) + 1
    const head: RunHead = { version, chain, position: 0, summary: this.#summary }
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
