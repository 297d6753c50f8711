/** The units that were evaluated in this guest. */
import type { Host, Internals } from './host.ts'

/** What units are evaluated with, and where their exports are found again. */
export function createInternals(host: Host): Internals {
  const loaded: Record<string, Readonly<Record<string, unknown>>> = Object.create(null)
  const internals: Internals = {
    host,
    use(unit) {
      let exports = loaded[unit]
      if (exports === undefined) {
        exports = host.load(unit)(internals)
        loaded[unit] = exports
      }
      return exports
    },
  }
  return internals
}
