/**
 * Import maps, as the HTML standard has them (section 8.1.6.2 and following): what bare specifiers and prefixes stand
 * for, in all modules or in those below a path.
 *
 * Addresses are paths from the root. What the standard ignores with a warning is refused here: a map is the
 * embedder's, who wants to hear of a mistake.
 *
 * Invariants
 * 1. Of several keys that fit, the longest decides; of scopes that fit, the longest that has one that fits.
 * 2. What a prefix maps cannot lead above its address.
 */
import { CaissonError } from '../base/errors.ts'
import { classify, packageName, type Resolved, resolvePath } from './specifier.ts'

/** What specifiers stand for: `{ imports: { "lib/": "./vendor/lib/" }, scopes: { "./old/": { "x": "./x-1.js" } } }`. */
export interface ImportMap {
  readonly imports?: Readonly<Record<string, string | null>>
  /** By the folder, or the module, whose imports they are for. */
  readonly scopes?: Readonly<Record<string, Readonly<Record<string, string | null>>>>
}

/** A key and its address; null blocks what fits. Longest key first. */
type Entries = readonly (readonly [key: string, address: string | null])[]

/** Resolves specifiers, by a map or without one. */
export class Resolver {
  readonly #imports: Entries
  readonly #scopes: readonly (readonly [prefix: string, entries: Entries])[]

  /** @throws CaissonError `invalid_argument` for a map that is none */
  constructor(map: ImportMap = {}) {
    if (typeof map !== 'object' || map === null) throw refuse('is no object')
    for (const key of Object.keys(map)) {
      if (key !== 'imports' && key !== 'scopes')
        throw refuse(`has "${key.slice(0, 80)}": imports and scopes are known`)
    }
    this.#imports = entriesOf(map.imports ?? {}, 'imports')
    this.#scopes = Object.entries(objectOf(map.scopes ?? {}, 'scopes'))
      .map(([prefix, entries]) => [scopeOf(prefix), entriesOf(entries, `scopes["${prefix}"]`)] as const)
      .sort(([a], [b]) => longestFirst(a, b))
  }

  /** Whether the map says something of it. */
  maps(specifier: string, referrer: string): boolean {
    return this.#mapped(specifier, referrer) !== undefined
  }

  /** @param referrer name of the module that imports it, or of the program */
  resolve(specifier: string, referrer: string): Resolved {
    const what = classify(specifier)
    if (what.kind === 'refused') return what
    const mapped = this.#mapped(specifier, referrer)
    if (mapped !== undefined) return mapped
    return what.kind === 'path' ? resolvePath(specifier, referrer) : { name: packageName(specifier) }
  }

  #mapped(specifier: string, referrer: string): Resolved | undefined {
    // A map speaks of paths by what they resolve to, and of bare specifiers as they are.
    const path = /^\.\.?\//.test(specifier) ? resolvePath(specifier, referrer) : undefined
    const key = path === undefined ? specifier : path.name === undefined ? undefined : `./${path.name}`
    if (key === undefined || (this.#scopes.length === 0 && this.#imports.length === 0)) return undefined
    for (const [prefix, entries] of this.#scopes) {
      if (prefix === referrer || (prefix.endsWith('/') && referrer.startsWith(prefix)) || prefix === '') {
        const found = match(key, entries)
        if (found !== undefined) return found
      }
    }
    return match(key, this.#imports)
  }
}

function match(key: string, entries: Entries): Resolved | undefined {
  for (const [prefix, address] of entries) {
    const exact = prefix === key
    if (!exact && !(prefix.endsWith('/') && key.startsWith(prefix))) continue
    if (address === null) return { code: 'denied', why: 'the import map blocks it' }
    if (exact) return resolvePath(address, '')
    const resolved = resolvePath(address + key.slice(prefix.length), '')
    if (resolved.name !== undefined && !`./${resolved.name}`.startsWith(address)) {
      return { code: 'denied', why: 'it leads out of what the import map gives' }
    }
    return resolved
  }
  return undefined
}

function entriesOf(given: unknown, where: string): Entries {
  return Object.entries(objectOf(given, where))
    .map(([key, address]) => {
      const what = key === '' ? undefined : classify(key.endsWith('/') ? `${key}x` : key)
      if (what === undefined || what.kind === 'refused') {
        throw refuse(
          `has the key "${key.slice(0, 80)}" in ${where}${what === undefined ? '' : `: ${what.why}`}`,
        )
      }
      return [
        what.kind === 'path' ? pathKey(key, where) : key,
        address === null ? null : addressOf(address, key, where),
      ] as const
    })
    .sort(([a], [b]) => longestFirst(a, b))
}

/** Addresses keep the slash at their end, and are spelt in one way. */
function addressOf(address: unknown, key: string, where: string): string {
  if (typeof address !== 'string') throw refuse(`has no text for "${key.slice(0, 80)}" in ${where}`)
  if (key.endsWith('/') && !address.endsWith('/')) {
    throw refuse(`maps "${key.slice(0, 80)}" to what does not end in / in ${where}`)
  }
  return pathKey(address, where)
}

function pathKey(path: string, where: string): string {
  const folder = path.endsWith('/')
  const whole = folder ? `${path}x` : path
  const what = classify(whole)
  const resolved = what.kind === 'path' ? resolvePath(whole, '') : undefined
  if (resolved?.name === undefined) {
    throw refuse(
      `has "${path.slice(0, 80)}" in ${where}, which is no path from the root: ./ and what follows`,
    )
  }
  return `./${folder ? resolved.name.slice(0, -1) : resolved.name}`
}

/** A scope by the names of the modules that it is for: the root is "". */
function scopeOf(prefix: string): string {
  return prefix === './' ? '' : pathKey(prefix, 'scopes').slice(2)
}

function objectOf(value: unknown, where: string): object {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refuse(`has no object in ${where}`)
  return value
}

function longestFirst(a: string, b: string): number {
  return b.length - a.length || (a < b ? -1 : 1)
}

function refuse(what: string): CaissonError {
  return new CaissonError('invalid_argument', `The import map ${what}.`, { details: { option: 'importMap' } })
}
