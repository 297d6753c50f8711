/**
 * The leases that one store holds, and what their holders have of them.
 *
 * 1. A holder may act until its time is over by this process's own clock, which began before anybody else could see the
 *    lease: it stops before others begin.
 * 2. A lease that was given back, lost or taken anew here does nothing any more, whatever somebody still has of it.
 */
import { toHex } from '../../src/base/bytes.ts'
import type { RunLease } from '../../src/ports/run-store.ts'
import { checkTtl } from './check-arguments.ts'
import type { StoreWork } from './store-work.ts'

/** A run that a store holds. */
export interface HeldLease {
  readonly run: string
  readonly token: number
  /** When the lease runs out, by the monotonic clock of this process. */
  untilMs: number
}

/** What a store does about a lease that it holds. */
export interface LeaseKeeper<Held extends HeldLease> {
  /** By the monotonic clock of this process. */
  nowMs(): number
  /** Whether it is still the newest one. */
  isHeld(held: Held): Promise<boolean>
  /** @throws CaissonError `lease_lost` */
  renew(held: Held, ttlMs: number): Promise<void>
  /** Drops it and lets others have the run. Never rejects: what cannot be given back is free when its time is over. */
  giveBack(held: Held): Promise<void>
}

export class HeldLeases<Held extends HeldLease> {
  readonly #work: StoreWork
  readonly #keeper: LeaseKeeper<Held>
  readonly #held = new Map<string, Held>()

  constructor(work: StoreWork, keeper: LeaseKeeper<Held>) {
    this.#work = work
    this.#keeper = keeper
  }

  /** Takes note of a lease that was taken. @returns what its holder gets */
  add(held: Held): RunLease {
    this.#held.set(held.run, held)
    return {
      fencingToken: held.token,
      held: async () => this.#mayAct(held) && (await this.#keeper.isHeld(held)) && this.#mayAct(held),
      renew: async (ttlMs) => {
        checkTtl(ttlMs)
        const nowMs = this.#keeper.nowMs()
        await this.#keeper.renew(held, ttlMs)
        held.untilMs = nowMs + ttlMs
      },
      release: async () => {
        if (!this.#work.isClosing) await this.#work.untilEnded(this.#keeper.giveBack(held))
      },
    }
  }

  /** The lease of a run, if this store holds one. */
  of(run: string): Held | undefined {
    return this.#held.get(run)
  }

  /** Whether this store still holds it. */
  has(held: Held): boolean {
    return this.#held.get(held.run) === held
  }

  /** Holds it no more. @returns whether it was held until now */
  drop(held: Held): boolean {
    return this.has(held) && this.#held.delete(held.run)
  }

  /** For a store that is being closed. */
  async giveAllBack(): Promise<void> {
    await Promise.all([...this.#held.values()].map((held) => this.#keeper.giveBack(held)))
  }

  #mayAct(held: Held): boolean {
    return !this.#work.isClosing && this.has(held) && this.#keeper.nowMs() < held.untilMs
  }
}

/** Names a lease, drawn anew for each. */
export function newLeaseId(): string {
  return toHex(crypto.getRandomValues(new Uint8Array(16)))
}
