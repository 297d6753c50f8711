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
import { grantOfModule, type MissingImport, missingImports } from '../missing-imports.ts'
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
 * @throws CaissonError `missing_imports` with `details: { missing: [{ interface, name, grant? }] }`; `invalid_module` where a
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
    const role = roleOf(item, capabilities, functions, missing)
    if (role !== undefined) roles.set(item, role)
    else without.push(item)
  }
  if (without.length > 0) throw missingImports('module', without.map(missingImport))
  return roles
}

/**
 * What stands behind one import; undefined where it is missing.
 * @param functions of WASI
 * @throws CaissonError `invalid_module`
 */
export function roleOf(
  item: CoreImport,
  capabilities: readonly GuestCapability[],
  functions: Readonly<Record<string, unknown>>,
  missing: 'refuse' | 'trap',
): ImportRole | undefined {
  if (item.kind !== 'function') return undefined
  const granted = grantedRole(item, capabilities, functions)
  return granted ?? (missing === 'trap' && canBeCalled(item) ? { kind: 'absent' } : undefined)
}

function grantedRole(
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

/** One that nobody grants, as it is told. */
export function missingImport({ module, name, kind }: CoreImport): MissingImport {
  if (kind !== 'function') return { interface: module, name, isFunction: false }
  const grant = module === WASI_NAMESPACE ? undefined : grantOfModule(module, name)
  return { interface: module, name, ...(grant !== undefined && { grant }) }
}
