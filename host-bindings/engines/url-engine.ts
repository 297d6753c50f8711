/** An engine that a page fetches, checks and compiles. */
import { sha256 } from '../../src/base/digest.ts'
import { CaissonError } from '../../src/base/errors.ts'
import type { EngineSource, LoadedEngine } from '../../src/ports/engine-source.ts'
import { engineUnavailable } from './static-engine.ts'

export interface UrlEngineOptions {
  /** Where the module is: same origin, or with CORS. */
  readonly url: string | URL
  readonly manifest: {
    readonly id: string
    readonly profiles: Readonly<Record<LoadedEngine['profile'], { readonly sha256: string }>>
  }
  readonly profile: LoadedEngine['profile']
}

/** Loads the engine once, on first use; a failed load is tried again by the next caller. */
export function urlEngine({ url, manifest, profile }: UrlEngineOptions): EngineSource {
  const ids = [manifest.id]
  let loading: Promise<LoadedEngine> | undefined

  async function load(): Promise<LoadedEngine> {
    let bytes: ArrayBuffer
    try {
      const response = await fetch(url)
      if (!response.ok) throw new Error(`${String(url)} answered ${response.status}`)
      bytes = await response.arrayBuffer()
    } catch (cause) {
      throw engineUnavailable(manifest.id, ids, cause)
    }
    // A stale file of another version would run under the wrong id, so streaming compilation is given up.
    if (sha256(new Uint8Array(bytes)) !== `sha256:${manifest.profiles[profile].sha256}`) {
      throw new CaissonError(
        'engine_mismatch',
        `${String(url)} is not the engine that this version was built with. Deploy the engine and the code together.`,
      )
    }
    return { manifest, module: await WebAssembly.compile(bytes), profile }
  }

  return {
    ids,
    load: async (wanted) => {
      if (wanted !== manifest.id) throw engineUnavailable(wanted, ids)
      loading ??= load().catch((error: unknown) => {
        loading = undefined
        throw error
      })
      return loading
    },
  }
}
