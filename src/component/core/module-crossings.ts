/**
 * Calls from one module of a guest into another, as far as suspending has to know of them.
 *
 * A module that is suspended is unwound by its own code. Code of another module between two of its frames would not be:
 * it would go on with a result that nobody gave, and be called again when the guest resumes.
 *
 * 1. Functions of other modules that a suspendable module imports are counted while they are at work. While one is, the
 *    guest cannot be suspended (`CoreGuest.suspendingFunction`).
 * 2. There is no way around the count: what could carry functions between a suspendable module and another one (a table,
 *    a reference) is refused when they are linked.
 */
import { CaissonError } from '../../base/errors.ts'
import type { CoreImport, CoreManifest, CoreSignature, CoreType } from './core-manifest.ts'

type AnyFunction = (...args: readonly unknown[]) => unknown

interface LinkedModule {
  readonly manifest: CoreManifest
  readonly exports: Readonly<Record<string, unknown>>
}

export class ModuleCrossings {
  readonly #hosts = new WeakSet<AnyFunction>()
  /** How many functions of other modules a suspendable module waits for. */
  #open = 0

  get open(): number {
    return this.#open
  }

  /** A new turn: a trap leaves calls behind that never return. */
  reset(): void {
    this.#open = 0
  }

  /** Marks a function as one of the host's. */
  host(invoke: AnyFunction): AnyFunction {
    this.#hosts.add(invoke)
    return invoke
  }

  /**
   * The imports of a module that is linked to the others of its guest.
   *
   * @throws CaissonError `unsupported` (invariant 2)
   */
  link(
    manifest: CoreManifest,
    imports: WebAssembly.Imports,
    others: readonly LinkedModule[],
  ): WebAssembly.Imports {
    const suspendable = manifest.suspends.length > 0
    const theirs = new Set<unknown>()
    for (const other of others)
      if (other.manifest.suspends.length > 0)
        for (const item of Object.values(other.exports)) theirs.add(item)
    if (!suspendable && theirs.size === 0) return imports
    const linked: Record<string, WebAssembly.ModuleImports> = {}
    for (const wanted of manifest.imports) {
      const value = imports[wanted.module]?.[wanted.name]
      const isHosts = typeof value === 'function' && this.#hosts.has(value as AnyFunction)
      if (!isHosts && (suspendable || theirs.has(value))) refuseCarriers(wanted, value)
      linked[wanted.module] ??= Object.create(null) as WebAssembly.ModuleImports
      const items = linked[wanted.module] as WebAssembly.ModuleImports
      if (value === undefined) continue
      items[wanted.name] =
        suspendable && !isHosts && typeof value === 'function'
          ? countedCall(value as AnyFunction, this.#count)
          : value
    }
    return linked
  }

  readonly #count = (by: 1 | -1): void => {
    this.#open += by
  }
}

/** A function whose calls are told as they begin and end. */
export function countedCall(call: AnyFunction, count: (by: 1 | -1) => void): AnyFunction {
  return (...args) => {
    count(1)
    try {
      return call(...args)
    } finally {
      count(-1)
    }
  }
}

/** Whether a function could go from one module to another in it, beside a table. @param value a global, of one */
export function carriesReferences({ signature }: Pick<CoreImport, 'signature'>, value: unknown): boolean {
  const held = value instanceof WebAssembly.Global ? heldBy(value) : undefined
  return typesOf(signature).includes('ref') || typeof held === 'function' || held === null
}

/** Of what a function takes and gives. */
export function typesOf({ params = [], results = [] }: Partial<CoreSignature> = {}): readonly CoreType[] {
  return [...params, ...results]
}

function refuseCarriers(wanted: CoreImport, value: unknown): void {
  const carries = wanted.kind === 'table' || carriesReferences(wanted, value)
  // A vector cannot pass through the function that counts.
  if (!carries && !typesOf(wanted.signature).includes('v128')) return
  throw new CaissonError(
    'unsupported',
    `A module that can be suspended shares ${JSON.stringify(`${wanted.module}.${wanted.name}`.slice(0, 120))} with another module: code of that one could be in its way. Prepare it without suspends.`,
  )
}

/** Vectors cannot be read. */
function heldBy(global: WebAssembly.Global): unknown {
  try {
    return global.value
  } catch {
    return undefined
  }
}
