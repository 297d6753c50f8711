/** A core module prepared once, for all processes that share a cache. */
import type { Asyncify } from '../../ports/asyncify.ts'
import type { CoreManifest, PreparedCore } from './core-manifest.ts'
import { describeCoreOptions, type PrepareCoreOptions } from './prepare-core.ts'
import type { PreparedCache } from './prepared-cache.ts'

export interface PrepareCachedOptions extends Omit<PrepareCoreOptions, 'asyncify'> {
  /** The tool is not needed to find what it made: its name is. */
  readonly asyncify?: Pick<Asyncify, 'version'>
}

/**
 * @param cache left out, everything is prepared
 * @param options those with which `prepare` prepares: all that the result depends on
 * @param prepare called with a copy of the bytes, where the cache has no result that can be trusted
 * @throws what `prepare` throws
 */
export async function prepareCached(
  cache: PreparedCache | undefined,
  given: Uint8Array,
  options: PrepareCachedOptions,
  prepare: (bytes: Uint8Array) => PreparedCore | Promise<PreparedCore>,
): Promise<PreparedCore> {
  const bytes = new Uint8Array(given)
  if (cache === undefined) return prepare(bytes)
  const work = { bytes, how: ['core', ...describeCoreOptions(options)] }
  const { data, parts } = await cache.prepare(work, async () => {
    const { wasm, manifest } = await prepare(bytes)
    return { data: manifest, parts: [wasm] }
  })
  return { wasm: parts[0] as Uint8Array, manifest: data as CoreManifest }
}
