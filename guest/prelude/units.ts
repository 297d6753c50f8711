/**
 * The units that were evaluated in this guest.
 *
 * A unit returns its exports by name. Those with the name of a global become it when the global is touched
 * (`lazy-globals.ts`); the others are for other units.
 */
import { chains } from './chains.ts'
import type { Host, Internals, UnitExports } from './host.ts'
import { defineLazily } from './lazy-globals.ts'
import { primordials } from './primordials.ts'
import type { Timers } from './timers.ts'

const { defineProperty, keys, create } = Object
const { toStringTag } = Symbol

/** What units are evaluated with, and where their exports are found again. */
export function createInternals(
  host: Host,
  timers: Pick<Timers, 'set' | 'clear'>,
  lent: Pick<Internals, 'netFetch' | 'readBody'>,
): Internals {
  const loaded: Record<string, UnitExports> = create(null)
  const internals: Internals = {
    host,
    primordials,
    chains,
    timers,
    netFetch: lent.netFetch,
    readBody: lent.readBody,
    loaded: (unit) => loaded[unit],
    defineLazily: (object, names, unit) => defineLazily(object, names, unit, internals),
    use(unit) {
      let exports = loaded[unit]
      if (exports === undefined) {
        exports = host.load(unit)(internals)
        nameExports(exports)
        loaded[unit] = exports
      }
      return exports
    },
  }
  return internals
}

/** The build shortens the names of functions and classes: gives those that a guest sees theirs. */
function nameExports(exports: UnitExports): void {
  const names = keys(exports)
  for (let i = 0; i < names.length; i += 1) {
    const name = names[i] as string
    const value = exports[name]
    if (typeof value !== 'function') continue
    describe(value, 'name', name)
    const { prototype } = value as { prototype?: object }
    if (prototype !== undefined && name < 'a') describe(prototype, toStringTag, name)
  }
}

function describe(object: object, key: PropertyKey, value: string): void {
  const descriptor = create(null) as PropertyDescriptor
  descriptor.value = value
  descriptor.configurable = true
  defineProperty(object, key, descriptor)
}
