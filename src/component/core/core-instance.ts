/** An instance of one of a guest's modules. */
import type { CoreManifest } from './core-manifest.ts'

/** Call its functions through its guest. */
export interface CoreInstance {
  readonly manifest: CoreManifest
  readonly exports: Readonly<Record<string, unknown>>
}
