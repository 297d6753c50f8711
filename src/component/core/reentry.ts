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
import type { CoreExport, CoreImport, CoreManifest, CoreSignature } from './core-manifest.ts'
import { carriesReferences, countedCall, typesOf } from './module-crossings.ts'

/** What has to be known of a module that is linked. */
export interface LinkedCore extends Pick<CoreManifest, 'imports' | 'exports' | 'suspends' | 'functions'> {
  /** Whether it has a global for references in common with others. Left out, its globals are there to be looked at. */
  readonly sharesReferences?: boolean
}

type AnyFunction = (...args: readonly unknown[]) => unknown
type Given = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** The canonical ABI's own: nothing that these call may wait. */
const ALLOCATOR = /^cabi_/

/** A function, or a global, of the module that is unwound. */
interface Counted {
  readonly signature: CoreSignature | undefined
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
  link(core: LinkedCore, given: Given): Given {
    const isOwn = core.suspends.length > 0
    // One without code can call it in its start only, where nothing waits, unless it puts it into a table.
    const isIdle = core.functions === 0 && !core.imports.some(({ kind }) => kind === 'table')
    if (isOwn && core.sharesReferences === true) this.#isHidden = true
    const all: Record<string, Record<string, unknown>> = Object.create(null)
    for (const wanted of core.imports) {
      const { module, name } = wanted
      const item = given[module]?.[name]
      if (item === undefined) continue
      if (isOwn && carriesReferences(wanted, item)) this.#isHidden = true
      if (item instanceof WebAssembly.Table) this.#share(item, isOwn)
      all[module] ??= Object.create(null) as Record<string, unknown>
      ;(all[module] as Record<string, unknown>)[name] = isOwn ? item : this.#passed(wanted, item, isIdle)
    }
    return all
  }

  /** After it was linked. */
  made({ exports: made, suspends }: LinkedCore, exports: Readonly<Record<string, unknown>>): void {
    const isOwn = suspends.length > 0
    for (const { name, kind, signature } of made) {
      if (kind === 'table') this.#share(exports[name] as WebAssembly.Table, isOwn)
      if (isOwn && (kind === 'function' || kind === 'global')) this.#keep(kind, signature, exports[name])
    }
  }

  #keep(kind: CoreExport['kind'], signature: CoreSignature | undefined, item: unknown): void {
    // A vector cannot pass through the function that counts.
    const isHidden =
      carriesReferences({ ...(signature && { signature }) }, item) || typesOf(signature).includes('v128')
    const given = kind === 'global' || isHidden ? item : countedCall(item as AnyFunction, this.#count)
    this.#counted.set(item, { signature, given, isHidden })
  }

  #passed({ name, kind, signature }: CoreImport, item: unknown, isIdle: boolean): unknown {
    const known = this.#counted.get(item)
    // What does not fit is for the engine to refuse.
    if (known === undefined || !isSame(known.signature, signature)) return item
    if (known.isHidden) this.#isHidden = true
    if (kind === 'function' && !isIdle && !ALLOCATOR.test(name)) this.#names.add(name)
    return known.given
  }

  #share(table: WebAssembly.Table, isOwn: boolean): void {
    const known = this.#tables.get(table)
    if (known === undefined) this.#tables.set(table, { isOwn })
    else if (known.isOwn !== isOwn) this.#isHidden = true
  }

  readonly #count = (by: 1 | -1): void => {
    this.#open += by
  }
}

function isSame(one: CoreSignature | undefined, other: CoreSignature | undefined): boolean {
  return one?.params.join() === other?.params.join() && one?.results.join() === other?.results.join()
}
