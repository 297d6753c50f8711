/**
 * Globals that are not there until they are touched: the first look at one evaluates its unit.
 *
 * Invariants
 * 1. Whether a unit was evaluated depends on what the guest did, and on nothing else: equal programs have equal
 *    memories.
 * 2. A global that a guest has overwritten or deleted stays what the guest made of it.
 */
import { define } from './define.ts'
import type { Internals } from './host.ts'

/** Units by the globals that they define. */
const UNITS: Readonly<Record<string, readonly string[]>> = {
  base64: ['atob', 'btoa'],
}

const { defineProperty, create } = Object

/** Puts accessors for all lazy globals on `globalThis`. */
export function defineLazyGlobals(internals: Internals): void {
  for (const unit of Object.keys(UNITS)) {
    for (const name of UNITS[unit] ?? []) {
      const descriptor = create(null) as PropertyDescriptor
      descriptor.configurable = true
      descriptor.enumerable = false
      descriptor.get = () => {
        const value = internals.use(unit)[name]
        define(globalThis, name, value)
        return value
      }
      descriptor.set = (value: unknown) => define(globalThis, name, value)
      defineProperty(globalThis, name, descriptor)
    }
  }
}
