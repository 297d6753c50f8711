/** An engine that a page fetches and compiles while it streams. */
import type { EngineSource, LoadedEngine } from '../../src/ports/engine-source.ts'
import { engineUnavailable } from './static-engine.ts'

export interface UrlEngineOptions {
  /** Where the module is: same origin, or with CORS. */
  readonly url: string | URL
  readonly manifest: { readonly id: string }
  readonly profile: LoadedEngine['profile']
}

/** Loads the engine once, on first use; a failed load is tried again by the next caller. */
export function urlEngine({ url, manifest, profile }: UrlEngineOptions): EngineSource {
  const ids = [manifest.id]
  let loading: Promise<LoadedEngine> | undefined
  return {
    ids,
    load: async (wanted) => {
      if (wanted !== manifest.id) throw engineUnavailable(wanted, ids)
      loading ??= compile(url).then(
        (module) => ({ manifest, module, profile }),
        (cause: unknown) => {
          loading = undefined
          throw engineUnavailable(wanted, ids, cause)
        },
      )
      return loading
    },
  }
}

async function compile(url: string | URL): Promise<WebAssembly.Module> {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${String(url)} answered ${response.status}`)
  // Streaming needs the right media type; servers that do not know .wasm get the slower way.
  if (response.headers.get('content-type')?.startsWith('application/wasm') === true) {
    return WebAssembly.compileStreaming(response)
  }
  return WebAssembly.compile(await response.arrayBuffer())
}
