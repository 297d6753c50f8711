import type { Chains } from './chains.ts'
import type { Primordials } from './primordials.ts'
import type { TimerHost, Timers } from './timers.ts'

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
  /** Opens as many groups of the console, or closes them where negative: lines are indented. */
  readonly indentLog: (groups: number) => void
  /** The values as the console shows them. */
  readonly inspect: (...values: unknown[]) => string
  /** Milliseconds of logical time since the guest started; the clock moves by it. */
  readonly now: () => number
  /** When the guest started, in milliseconds since the epoch. */
  readonly timeOrigin: () => number
  /** A structured clone. @throws an Error with the `code` and message of the bridge's refusal */
  readonly clone: (value: unknown) => unknown
  /** @param count at most 65,536 */
  readonly randomBytes: (count: number) => Uint8Array
  /** @param name `SHA-1`, `SHA-256`, `SHA-384` or `SHA-512` */
  readonly digest: (name: string, bytes: Uint8Array) => Uint8Array
  /** UTF-8; lone surrogates become U+FFFD. */
  readonly encodeText: (text: string) => Uint8Array<ArrayBuffer>
  /** Undefined for malformed bytes, if `fatal`. @param encoding `utf-8`, `utf-16le` or `windows-1252` */
  readonly decodeText: (bytes: Uint8Array, encoding: string, fatal: boolean) => string | undefined
}

/** A part of the prelude that is evaluated when it is first touched. */
export type Unit<Exports = UnitExports> = (internals: Internals) => Exports

export type UnitExports = Readonly<Record<string, unknown>>

/** A capability of the host, if it was granted. */
export type Lent = ((request: object) => unknown) | undefined

/** What units get from the prelude: nothing of it can be changed by a guest. */
export interface Internals {
  readonly host: Host
  readonly primordials: Primordials
  readonly chains: Chains
  readonly timers: Pick<Timers, 'set' | 'clear'>
  /** The capability `net.fetch` as the host installed it, if it was granted. */
  readonly netFetch: () => Lent
  /** The same of `net.readBody`. */
  readonly readBody: () => Lent
  /** Puts exports of a unit on an object when they are touched there. */
  readonly defineLazily: (object: object, names: readonly PropertyKey[], unit: string) => void
  /** The exports of a unit, whatever a guest did to the globals of the same names. */
  readonly use: (unit: string) => UnitExports
  /** The same, of a unit that was evaluated: without it there is no object of its classes. */
  readonly loaded: (unit: string) => UnitExports | undefined
}
