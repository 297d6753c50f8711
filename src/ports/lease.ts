/** The right to act for a run. The gate asks before every effect, so that a worker that lost its run stops acting. */
export interface Lease {
  /** Grows with every new holder. Effects carry it, so that a late one can be told from the current one. */
  readonly fencingToken: number
  /** Whether this holder may still act. Rejects or returns false when the lease is lost. */
  held(): boolean | Promise<boolean>
}
