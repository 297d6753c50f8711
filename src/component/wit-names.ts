/**
 * Under which names a component imports capabilities: the one place that who prints WIT and who answers imports share.
 *
 * `prices.lookup` is the function `lookup` of `caisson:capabilities/prices`, `shop.prices.listAll` is `list-all` of
 * `caisson:capabilities/shop-prices`, and a capability without a namespace is in `caisson:capabilities/globals`. Each
 * takes one parameter, `input`, and gives `result<OUTPUT, failure>`: a call can be denied, and an import returns.
 *
 * Invariant
 * 1. Two different names never become one: what collides is refused by both names.
 */
import { CaissonError } from '../base/errors.ts'

/** Without a version: its contents follow what is granted. */
export const GRANTED_PACKAGE = 'caisson:capabilities'
/** Of capabilities whose names have no dot. */
const GLOBALS = 'globals'

/** Where a component finds a capability. */
export interface WitPlace {
  /** `caisson:capabilities/shop-prices`. */
  readonly interface: string
  /** `list-all`. */
  readonly func: string
}

/** @param name a valid name of a capability */
export function witPlaceOf(name: string): WitPlace {
  const path = name.split('.')
  const func = kebabName(path.pop() ?? '')
  const from = path.length === 0 ? GLOBALS : path.map(kebabName).join('-')
  return { interface: `${GRANTED_PACKAGE}/${from}`, func: func as string }
}

/**
 * Capabilities by `interface#func`.
 * @throws CaissonError `invalid_argument` where two have the same place
 */
export function placesOf<T extends { readonly name: string }>(
  capabilities: readonly T[],
): ReadonlyMap<string, T> {
  const found = new Map<string, T>()
  for (const capability of capabilities) {
    const place = witPlaceOf(capability.name)
    const key = `${place.interface}#${place.func}`
    const other = found.get(key)
    if (other !== undefined) throw sameName(other.name, capability.name, key)
    found.set(key, capability)
  }
  return found
}

/**
 * A name of a program in WIT's form: `listAll`, `list_all` and `list-all` are `list-all`, `getURL` is `get-url`. Words
 * that begin with a digit stay with the one before. `undefined` where nothing of WIT says it: no letter at the begin, or
 * letters beyond ASCII.
 */
export function kebabName(name: string): string | undefined {
  if (!/^[\x20-\x7e]{1,200}$/.test(name)) return undefined
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[ _.:/-]+/)
    .filter((word) => word !== '')
  const kebab = words.join('-').replace(/-(?=[0-9])/g, '')
  return /^[a-z][a-z0-9]*(?:-[a-z][a-z0-9]*)*$/.test(kebab) ? kebab : undefined
}

export function sameName(one: string, other: string, both: string): CaissonError {
  return new CaissonError(
    'invalid_argument',
    `"${one}" and "${other}" are both "${both}" in WIT: rename one of them.`,
    { details: { names: [one, other] } },
  )
}

/** What WIT reads as itself, and not as a name. */
const WORDS: ReadonlySet<string> = new Set(
  (
    'as async bool borrow char constructor enum error-context export f32 f64 flags from func future import include ' +
    'interface list map option own package record resource result s16 s32 s64 s8 static stream string tuple type u16 ' +
    'u32 u64 u8 use variant with world'
  ).split(' '),
)

/** A name as it stands in the text of a package. */
export function witId(name: string): string {
  return WORDS.has(name) ? `%${name}` : name
}
