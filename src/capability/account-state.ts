/** An account as plain data, to outlive the process. */
export interface AccountState {
  readonly calls: number
  readonly bytesOut: number
  readonly bytesIn: number
  readonly units: Readonly<Record<string, number>>
  /** Ages of the calls in the rate window, milliseconds, oldest first. */
  readonly rateAgesMs: readonly number[]
}
