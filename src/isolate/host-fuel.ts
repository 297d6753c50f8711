/** What work that the host does for a guest costs that guest. */

/** Fuel for the host's part of a call. */
export const CALL_FUEL = 2_000

/** Fuel for each byte that the host reads of a guest, or writes into it. */
export const CALL_FUEL_PER_BYTE = 8
