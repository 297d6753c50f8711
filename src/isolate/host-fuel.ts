/** What work that the host does for a guest costs that guest. */

import type { FuelGauge } from '../machine/fuel-gauge.ts'

/** Fuel for the host's part of a call. */
export const CALL_FUEL = 2_000

/** Fuel for each byte that the host reads of a guest, or writes into it. */
export const CALL_FUEL_PER_BYTE = 8

/**
 * Has a guest pay for `bytes` of its own that the host looked at.
 * @param bytes what the reading cost (`lastWork` of the reader), and what was made of it for the host
 */
export function chargeReading(gauge: FuelGauge, bytes: number): void {
  gauge.charge(CALL_FUEL + bytes * CALL_FUEL_PER_BYTE)
  gauge.hostWorked()
}
