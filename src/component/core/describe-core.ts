/** What a core module imports and exports, as its manifest says it, and whether the engine takes it. */
import { CaissonError } from '../../base/errors.ts'
import { encodeModule } from '../../wasm/encode-module.ts'
import type { lowerConstants } from '../../wasm/lower-constants.ts'
import { type ImportType, indexSpaces, type Module } from '../../wasm/module.ts'
import type { CoreExport, CoreImport, CoreSignature } from './core-manifest.ts'
import { coreType } from './expose-state.ts'

/** So far the tables of a module may grow by default; one that begins with more keeps what it begins with. */
export const DEFAULT_TABLE_ENTRIES = 100_000
/** Large programs begin with hundreds of thousands: GHC's have one entry for each closure. */
const MOST_FIRST_ENTRIES = 1_000_000

export function defaultTableEntries({ tables }: Module): number {
  const first = tables.reduce((sum, { type }) => sum + type.limits.min, 0)
  return Math.min(Math.max(first, DEFAULT_TABLE_ENTRIES), MOST_FIRST_ENTRIES)
}

export function importsOf(module: Module): readonly CoreImport[] {
  const item = (from: string, name: string, desc: ImportType): CoreImport =>
    desc.kind === 'function'
      ? { module: from, name, kind: desc.kind, signature: signatureOf(module, desc.type) }
      : { module: from, name, kind: desc.kind }
  return module.imports.map(({ module: from, name, desc }) => item(from, name, desc))
}

export function exportsOf(module: Module): readonly CoreExport[] {
  const { functions } = indexSpaces(module)
  return module.exports.map(({ name, kind, index }) =>
    kind === 'function'
      ? { name, kind, signature: signatureOf(module, functions[index] as number) }
      : { name, kind },
  )
}

function signatureOf(module: Module, type: number): CoreSignature {
  const { params = [], results = [] } = module.types[type] ?? {}
  return { params: params.map(coreType), results: results.map(coreType) }
}

/**
 * @param bytes as they were given
 * @param plain of them, with constants that every engine takes
 * @throws CaissonError `invalid_module`
 */
export function checkValid(bytes: Uint8Array, plain: ReturnType<typeof lowerConstants>): void {
  const checked = plain.constants.length === 0 ? bytes : encodeModule(plain.module)
  if (!WebAssembly.validate(checked as BufferSource)) {
    throw new CaissonError(
      'invalid_module',
      'The module is not valid, or this engine lacks a feature that it uses.',
    )
  }
}
