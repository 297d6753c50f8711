/** What is known of a component that was built before: data beside its files. */
import type { CompiledModule } from '../ports/engine-source.ts'
import type { ComponentAst } from './binary/component-ast.ts'
import type { CoreManifest } from './core/core-manifest.ts'

/** Plain JSON. */
export interface PrebuiltManifest {
  /** Of this shape, and of how modules are metered. */
  readonly format: 2
  /** Of the manifest without this line, as JSON. */
  readonly digest: string
  /** Of the component that it was made of. */
  readonly component: string
  /** What its memories were capped at, in pages of 64 KiB. */
  readonly maxMemoryPages: number
  /** What made it wait where `cores` say that they can be suspended; null where nothing did. */
  readonly suspendedBy: string | null
  readonly root: ComponentAst
  readonly cores: readonly PrebuiltCore[]
}

export interface PrebuiltCore {
  readonly file: string
  /** Of the file. */
  readonly sha256: string
  /** What the file says of itself in a custom section, which a compiled module still has: the digest of all before it. */
  readonly stamp: string
  readonly manifest: CoreManifest
}

export interface PrebuiltComponent {
  readonly manifest: PrebuiltManifest
  /** Bytes of a file of the manifest, or the module that they are. */
  read(file: string): Promise<Uint8Array | CompiledModule> | Uint8Array | CompiledModule
  /** What `manifest.digest` has to be, where it is known from elsewhere. */
  readonly digest?: string
}

/** What is said of what is neither bytes nor that. */
export const NO_SOURCE =
  'A component is given as its bytes (Uint8Array), or as what was built of it ({ manifest, read }).'

export function isPrebuilt(source: unknown): source is PrebuiltComponent {
  const { manifest, read } = (source ?? {}) as Partial<PrebuiltComponent>
  return typeof manifest === 'object' && manifest !== null && typeof read === 'function'
}
