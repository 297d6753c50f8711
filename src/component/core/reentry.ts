/**
 * Ways back into the module that is unwound where a component waits, from other modules of it.
 *
 * A module is unwound by its own code. Code of another one between two of its frames would not be: it would go on with a
 * result that nobody gave, and be gone when the guest comes back.
 *
 * Invariants
 * 1. Functions of the module that others import are counted while they are at work (`open`). The guest does not wait then.
 * 2. What cannot be counted, calls through a table that it has in common with another module, or through references that
 *    it could have given away, is found when they are linked (`isHidden`).
 */
import type { CoreManifest } from './core-manifest.ts'
import { carriesReferences, typesOf } from './module-crossings.ts'

type AnyFunction = (...args: readonly unknown[]) => unknown
type Given = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** The canonical ABI's own: nothing that these call may wait. */
const ALLOCATOR = /^cabi_/

/** A function, or a global, of the module that is unwound. */
interface Counted {
  readonly name: string
  /** What others are given in its place; itself where it cannot be counted. */
  readonly given: unknown
  readonly isHidden: boolean
}

export class Reentry {
  /** By the functions of the module that is unwound. */
  readonly #counted = new Map<unknown, Counted>()
  readonly #tables = new Map<WebAssembly.Table, { readonly isOwn: boolean }>()
  readonly #names = new Set<string>()
  #isHidden = false
  #open = 0

  /** Calls of other modules into it that are under way. */
  get open(): number {
    return this.#open
  }

  /** Whether others may call it without being counted. */
  get isHidden(): boolean {
    return this.#isHidden
  }

  /** What others may call of it, but for its allocator. */
  get names(): readonly string[] {
    return [...this.#names]
  }

  /** A new turn: a trap leaves calls behind that never return. */
  reset(): void {
    this.#open = 0
  }

  /** Before a module is linked. @returns what it is given */
  link(manifest: CoreManifest, given: Given): Given {
    const isOwn = manifest.suspends.length > 0
    if (
      isOwn &&
      manifest.imports.some((wanted) => carriesReferences(wanted, given[wanted.module]?.[wanted.name]))
    )
      this.#isHidden = true
    const all: Record<string, Record<string, unknown>> = Object.create(null)
    for (const [module, items] of Object.entries(given)) {
      const own: Record<string, unknown> = Object.create(null)
      for (const [name, item] of Object.entries(items)) own[name] = this.#passed(item, isOwn)
      all[module] = own
    }
    return all
  }

  /** After it was linked. */
  made(manifest: CoreManifest, exports: Readonly<Record<string, unknown>>): void {
    const isOwn = manifest.suspends.length > 0
    for (const { name, kind, signature } of manifest.exports) {
      const item = exports[name]
      if (item instanceof WebAssembly.Table) this.#share(item, isOwn)
      if (!isOwn || (kind !== 'function' && kind !== 'global')) continue
      // A vector cannot pass through the function that counts.
      const isHidden =
        carriesReferences({ ...(signature && { signature }) }, item) || typesOf(signature).includes('v128')
      const given = kind === 'global' || isHidden ? item : this.#count(item as AnyFunction)
      this.#counted.set(item, { name, given, isHidden })
    }
  }

  #passed(item: unknown, isOwn: boolean): unknown {
    if (item instanceof WebAssembly.Table) this.#share(item, isOwn)
    const known = isOwn ? undefined : this.#counted.get(item)
    if (known === undefined) return item
    if (known.isHidden) this.#isHidden = true
    if (typeof item === 'function' && !ALLOCATOR.test(known.name)) this.#names.add(known.name)
    return known.given
  }

  #share(table: WebAssembly.Table, isOwn: boolean): void {
    const known = this.#tables.get(table)
    if (known === undefined) this.#tables.set(table, { isOwn })
    else if (known.isOwn !== isOwn) this.#isHidden = true
  }

  #count(call: AnyFunction): AnyFunction {
    return (...args) => {
      this.#open += 1
      try {
        return call(...args)
      } finally {
        this.#open -= 1
      }
    }
  }
}
