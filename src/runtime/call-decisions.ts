/**
 * What people decided over the calls of a kept run that were let in, by its log: for programs that ask.
 *
 * Invariants
 * 1. What was let in by an earlier process is among them, whatever checkpoint the guest went on from.
 * 2. Asked again, only what was written since is read: a guest that asks in a circle costs what it writes.
 */
import type { CallDecision } from '../capability/capability.ts'
import { EntryCodec } from '../snapshot/run-log/entry-codec.ts'
import type { EntrySealOptions } from '../snapshot/run-log/entry-seal.ts'
import type { RunOwner } from './run-owner.ts'
import type { WatchedStore } from './watched-store.ts'

const ENTRIES_AT_ONCE = 1_000

export class CallDecisions {
  readonly #store: WatchedStore
  readonly #owner: RunOwner
  readonly #codec: EntryCodec
  #at = 0
  readonly #found = new Map<number, CallDecision>()
  /** Entries are opened one after the other. */
  #reading: Promise<unknown> = Promise.resolve()

  constructor(store: WatchedStore, owner: RunOwner, sealing: EntrySealOptions) {
    this.#store = store
    this.#owner = owner
    this.#codec = new EntryCodec(sealing)
  }

  /** In the order in which the calls were let in. @throws CaissonError what reading throws */
  readonly list = async (): Promise<readonly CallDecision[]> => {
    const reading = this.#reading.then(() => this.#read())
    this.#reading = reading.catch(() => {})
    await reading
    return [...this.#found.values()]
  }

  async #read(): Promise<void> {
    const { run, tenant } = this.#owner
    for (;;) {
      const sealed = await this.#store.entries(run, this.#at, ENTRIES_AT_ONCE)
      for (const bytes of sealed) {
        const entry = await this.#codec.open(bytes, { tenant, run, at: this.#at })
        this.#at += 1
        if (entry.type !== 'intent' || entry.decision === undefined) continue
        const { id: call, capability, args, decision } = entry
        const { by, comment, edited } = decision
        this.#found.set(call, { call, capability, args, edited, by, comment })
      }
      if (sealed.length < ENTRIES_AT_ONCE) return
    }
  }
}
