/**
 * Own data properties on host objects, whatever their names.
 *
 * Invariants
 * 1. No setter runs and no prototype changes, also for `__proto__` and on a host that froze its primordials
 *    (where plain assignment of `constructor` would throw).
 */

/** Names that plain assignment would not simply add to an ordinary object. */
const INHERITED: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype))
/** No name in `INHERITED` is shorter: the cheap half of the test. */
const SHORTEST = Math.min(...[...INHERITED].map((name) => name.length))

/** Adds an enumerable own property to a plain object. */
export function setProperty(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key.length >= SHORTEST && INHERITED.has(key)) defineData(target, key, value, true)
  else target[key] = value
}

/** Adds an own property that was not there or is configurable. */
export function defineData(target: object, key: string, value: unknown, enumerable: boolean): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable, configurable: true })
}
