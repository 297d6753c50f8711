import type { TimerHost } from './timers.ts'

/**
 * What the host lends to the prelude: functions that only the prelude holds. No guest code ever gets one, but for
 * those that the prelude itself puts on a global.
 *
 * Their names and numbers are `HOST_FUNCTIONS` of `src/isolate/host-functions.ts`; the build writes the line that
 * gathers them.
 */
export interface Host extends TimerHost {
  readonly debug: (...values: unknown[]) => void
  readonly log: (...values: unknown[]) => void
  readonly info: (...values: unknown[]) => void
  readonly warn: (...values: unknown[]) => void
  readonly error: (...values: unknown[]) => void
  /** A number from 0 up to 1, of the recorded stream. */
  readonly random: () => number
  /** Evaluates a unit of the prelude and returns what its source is: a function that makes its exports. */
  readonly load: (unit: string) => Unit
}

/** A part of the prelude that is evaluated when it is first touched. */
export type Unit = (internals: Internals) => Readonly<Record<string, unknown>>

/** What units get from the prelude: nothing of it can be changed by a guest. */
export interface Internals {
  readonly host: Host
  /** The exports of a unit, whatever a guest did to the globals of the same names. */
  readonly use: (unit: string) => Readonly<Record<string, unknown>>
}
