/**
 * What kind of object a host value is, decided without running any of its code.
 *
 * Invariants
 * 1. Decided by internal slots (captured getters of the language), never by `instanceof`, `constructor` or the
 *    text of `Symbol.toStringTag`, so that subclasses and values of other realms (vm contexts, iframes) work and
 *    objects that only claim to be something do not.
 * 2. No accessor of the value runs. A Proxy's traps may run, and may throw: callers contain that.
 * 3. An object that says it is something special (it has `Symbol.toStringTag`: a Promise, a WeakMap, a URL, a
 *    Response, a DOM node) and is none of the kinds below is refused rather than copied as an empty object.
 */

/** Kinds that hold other values. */
export type ContainerKind = 'object' | 'array' | 'map' | 'set' | 'error'

/** Every kind of object that can be copied. */
export type ValueKind = ContainerKind | 'date' | 'regexp' | 'buffer' | 'view' | 'boxed'

type Getter = (this: unknown) => unknown

function getterOf(prototype: object | undefined, key: PropertyKey): Getter | undefined {
  return prototype && Object.getOwnPropertyDescriptor(prototype, key)?.get
}

function isBranded(getter: Getter | undefined, value: object): boolean {
  if (getter === undefined) return false
  try {
    getter.call(value)
    return true
  } catch {
    return false
  }
}

const mapSize = getterOf(Map.prototype, 'size')
const setSize = getterOf(Set.prototype, 'size')
const bufferByteLength = getterOf(ArrayBuffer.prototype, 'byteLength')
const builtinTag = Object.prototype.toString
const bigintValueOf: Getter = BigInt.prototype.valueOf

/** The kind of `value`, or undefined when it cannot cross a border. Functions are no objects here. */
export function kindOf(value: object): ValueKind | undefined {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null) return 'object'
  if (Array.isArray(value)) return 'array'
  return Symbol.toStringTag in value ? taggedKind(value) : untaggedKind(value)
}

/** Without a tag in the way, `Object.prototype.toString` answers from the internal slots alone. */
function untaggedKind(value: object): ValueKind | undefined {
  switch (builtinTag.call(value)) {
    case '[object Object]':
    case '[object Arguments]':
      return 'object'
    case '[object Error]':
      return 'error'
    case '[object Date]':
      return 'date'
    case '[object RegExp]':
      return 'regexp'
    case '[object Number]':
    case '[object String]':
    case '[object Boolean]':
      return 'boxed'
    default:
      return undefined
  }
}

function taggedKind(value: object): ValueKind | undefined {
  if (ArrayBuffer.isView(value)) return 'view'
  if (isBranded(mapSize, value)) return 'map'
  if (isBranded(setSize, value)) return 'set'
  if (isBranded(bufferByteLength, value)) return 'buffer'
  if (isBranded(bigintValueOf, value)) return 'boxed'
  return undefined
}
