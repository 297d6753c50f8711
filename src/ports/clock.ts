/** Where time comes from. The guest never sees this clock directly: it gets logical time (see `machine/turn`). */
export interface Clock {
  /** Wall time in milliseconds since the Unix epoch, UTC. May stand still or jump. */
  now(): number
  /** Milliseconds from an arbitrary start, never going back. Measures deadlines and durations. */
  monotonic(): number
}
