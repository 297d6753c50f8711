/**
 * Deep copies of host values with the semantics of `structuredClone`, bounded and without running their code.
 *
 * What travels: undefined, null, booleans, numbers (NaN and -0 included), bigints, strings (lone surrogates
 * included), plain objects and instances of classes as their own enumerable string-keyed properties, arrays
 * with holes and extra properties, Map, Set, Date, RegExp (without `lastIndex`), errors (name, message, cause),
 * ArrayBuffer, every typed array, DataView, boxed primitives; shared and cyclic references as such.
 *
 * What is refused, with its path: functions, symbols, accessors, shared, resizable and detached buffers, and
 * objects of the host such as promises, weak collections, URLs and responses.
 */
import { DEFAULT_VALUE_LIMITS, type ValueLimits } from './limits.ts'
import { walkValue } from './value-walk.ts'

/** What a value takes by the canonical size rule (see `ValueLimits`). */
export interface ValueSize {
  readonly bytes: number
  readonly nodes: number
}

/** A copy with its size. */
export interface ValueCopy<T> extends ValueSize {
  readonly value: T
  /**
   * Whether `value` holds anything that `Object.freeze` cannot make constant (Map, Set, Date, RegExp, buffers and
   * views). Whoever must not change it gets a `copyValue` of it; a frozen value without any can be shared as it is.
   */
  readonly unfreezable: boolean
}

/**
 * A deep copy of `value`.
 * @param root names the value in messages, e.g. `args` or `result`
 * @throws CaissonError `value_refused`, `value_too_large`, `value_too_deep`
 */
export function copyValue<T>(value: T, limits: ValueLimits = DEFAULT_VALUE_LIMITS, root = 'value'): T {
  return walkValue(value, limits, root, true).copy as T
}

/**
 * A deep copy of `value` with its size, made in one pass.
 * @param freeze whether every object, array, error and box of the copy is frozen
 * @throws CaissonError `value_refused`, `value_too_large`, `value_too_deep`
 */
export function copyMeasured<T>(
  value: T,
  limits: ValueLimits = DEFAULT_VALUE_LIMITS,
  root = 'value',
  freeze = false,
): ValueCopy<T> {
  const { copy, bytes, nodes, containers, unfreezable } = walkValue(value, limits, root, true)
  if (freeze) {
    for (const { kind, copy } of containers) if (kind !== 'map' && kind !== 'set') Object.freeze(copy)
  }
  return { value: copy as T, bytes, nodes, unfreezable }
}

/**
 * The size of `value` by the canonical size rule, without copying it.
 * @throws CaissonError `value_refused`, `value_too_large`, `value_too_deep`
 */
export function measureValue(
  value: unknown,
  limits: ValueLimits = DEFAULT_VALUE_LIMITS,
  root = 'value',
): ValueSize {
  const { bytes, nodes } = walkValue(value, limits, root, false)
  return { bytes, nodes }
}
