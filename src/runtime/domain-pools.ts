/**
 * The instance pools of all trust domains. An embedder may have thousands of tenants, each with a domain of its
 * own: only the domains used last keep idle instances.
 *
 * Invariants
 * 1. An instance never serves two domains.
 * 2. At most `MOST_DOMAINS` domains keep idle instances; a domain that comes back starts with a fresh one.
 */
import { CaissonError } from '../base/errors.ts'
import type { InstancePool } from '../isolate/instance-pool.ts'

/** About 0.8 MB for every idle instance of every one of them. */
const MOST_DOMAINS = 32

export class DomainPools {
  readonly #create: () => InstancePool
  /** Least recently used first. */
  readonly #pools = new Map<string, InstancePool>()
  #closed = false

  constructor(create: () => InstancePool) {
    this.#create = create
  }

  /** @throws CaissonError `disposed` */
  get(domain: string): InstancePool {
    if (this.#closed) throw new CaissonError('disposed', 'The runtime was closed; open a new one.')
    const known = this.#pools.get(domain)
    if (known !== undefined && this.#pools.size === 1) return known
    const pool = known ?? this.#create()
    this.#pools.delete(domain)
    this.#pools.set(domain, pool)
    if (this.#pools.size > MOST_DOMAINS) this.#closeOldest()
    return pool
  }

  close(): void {
    this.#closed = true
    for (const pool of this.#pools.values()) pool.close()
  }

  /** Its guests at work finish; what they give back is dropped. */
  #closeOldest(): void {
    for (const [domain, pool] of this.#pools) {
      pool.close()
      this.#pools.delete(domain)
      return
    }
  }
}
