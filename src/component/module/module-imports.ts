/**
 * Which functions stand behind the imports of a module: WASI preview 1, `caisson_calls`, handles of its own resources,
 * and granted capabilities. What is none of these is missing: all of it is told at once, before any code of the module
 * runs, or, where the embedder says so, each of them ends the guest that calls it.
 */
import { CaissonError } from '../../base/errors.ts'
import { clipText } from '../../base/escape-text.ts'
import type { GuestCapability } from '../../capability/call.ts'
import type { WasiHost } from '../../ports/wasi-host.ts'
import type { CoreImport, CoreManifest, CoreSignature } from '../core/core-manifest.ts'
import { CALLS_NAMESPACE } from './module-calls.ts'

export const WASI_NAMESPACE = 'wasi_snapshot_preview1'

export type ImportRole =
  | { readonly kind: 'wasi'; readonly name: string }
  | { readonly kind: 'answer' }
  /** `index` counts as `SyncCalls` does. */
  | { readonly kind: 'capability'; readonly capability: GuestCapability; readonly index: number }
  /** A handle of a resource of the module's own is what the module says it is: no other guest ever has it. */
  | { readonly kind: 'handle' }
  /** Nobody grants it, and the module may be run without. */
  | { readonly kind: 'absent' }

/** Where early versions of the canonical ABI ask for handles. */
const HANDLES_NAMESPACE = 'canonical_abi'

/**
 * @param missing what becomes of a function that is missing: `refuse` (default), or `trap`, as `RunModuleOptions` says
 * @throws CaissonError `missing_imports` with `details: { missing: [{ interface, name }] }`; `invalid_module` where a
 *   capability is imported with another signature than it has
 */
export function rolesOf(
  { imports }: CoreManifest,
  capabilities: readonly GuestCapability[],
  wasi: Pick<WasiHost, 'preview1'>,
  missing: 'refuse' | 'trap' = 'refuse',
): ReadonlyMap<CoreImport, ImportRole> {
  const functions = wasi.preview1()
  const roles = new Map<CoreImport, ImportRole>()
  const without: CoreImport[] = []
  for (const item of imports) {
    const isFunction = item.kind === 'function'
    const role = isFunction ? roleOf(item, capabilities, functions) : undefined
    if (role !== undefined) roles.set(item, role)
    else if (isFunction && missing === 'trap' && canBeCalled(item)) roles.set(item, { kind: 'absent' })
    else without.push(item)
  }
  if (without.length > 0) throw missingImports(without)
  return roles
}

function roleOf(
  { module, name, signature }: CoreImport,
  capabilities: readonly GuestCapability[],
  functions: Readonly<Record<string, unknown>>,
): ImportRole | undefined {
  if (module === WASI_NAMESPACE) return Object.hasOwn(functions, name) ? { kind: 'wasi', name } : undefined
  if (module === CALLS_NAMESPACE) {
    if (name !== 'answer') return undefined
    checkSignature(`${module}.${name}`, signature, 2)
    return { kind: 'answer' }
  }
  if (module === HANDLES_NAMESPACE && /^resource_(?:new|get)_/.test(name)) {
    checkSignature(`${module}.${name}`, signature, 1)
    return { kind: 'handle' }
  }
  const full = `${module}.${name}`
  const index = capabilities.findIndex((capability) => capability.name === full)
  const capability = capabilities[index]
  if (capability === undefined) return undefined
  checkSignature(full, signature, 4)
  return { kind: 'capability', capability, index }
}

function checkSignature(name: string, signature: CoreSignature | undefined, params: number): void {
  const { params: has = [], results = [] } = signature ?? {}
  const isRight =
    has.length === params && results.length === 1 && [...has, ...results].every((type) => type === 'i32')
  if (isRight) return
  throw new CaissonError(
    'invalid_module',
    `The module imports "${clipText(name, 80)}" with another signature than a capability has: ${params} i32 in, one i32 out.`,
  )
}

/** A host cannot stand behind a function that takes or gives vectors. */
function canBeCalled({ signature }: CoreImport): boolean {
  const { params = [], results = [] } = signature ?? {}
  return ![...params, ...results].includes('v128')
}

/** What ends a guest that calls what is not there. */
export function absentImport({ module, name }: CoreImport): CaissonError {
  return new CaissonError(
    'not_granted',
    clipText(`The module called ${module}.${name}, and nobody granted it.`, 500),
    { details: { interface: module, name } },
  )
}

function missingImports(missing: readonly CoreImport[]): CaissonError {
  const names = missing.slice(0, 20).map(({ module, name }) => `${module}.${name}`)
  const more = missing.length > names.length ? ` and ${missing.length - names.length} more` : ''
  return new CaissonError(
    'missing_imports',
    clipText(
      `The module imports what nobody grants it: ${names.join(', ')}${more}. A function "namespace" "name" is the capability namespace.name. One that never calls them runs with missing: 'trap'.`,
      2_000,
    ),
    {
      details: { missing: missing.slice(0, 1_000).map(({ module, name }) => ({ interface: module, name })) },
    },
  )
}
