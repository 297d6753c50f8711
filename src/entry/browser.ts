/** Composition root for pages and web Workers. */
import guest from '../../engines/current/guest.json' with { type: 'json' }
import { packagedTypeScript } from '../../host-bindings/engines/packaged-typescript.ts'
import { urlEngine } from '../../host-bindings/engines/url-engine.ts'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { systemClock } from '../../host-bindings/system/system-clock.ts'
import { systemEntropy } from '../../host-bindings/system/system-entropy.ts'
import { webCheckpointPorts } from '../../host-bindings/system/web-checkpoint-ports.ts'
import { webSignatureCheck } from '../../host-bindings/system/web-signer.ts'
import { openWebWorker } from '../../host-bindings/system/worker-port.ts'
import { ENGINE_MANIFEST } from '../isolate/engine-manifest.ts'
import type { EngineSource } from '../ports/engine-source.ts'
import type { RuntimeOptions } from '../runtime/options.ts'
import { createRuntime } from '../runtime/pooled-runtime.ts'
import type { Runtime } from '../runtime/runtime.ts'

export { parsePublicKey } from '../../host-bindings/system/ed25519-keys.ts'
export { openSigner } from '../../host-bindings/system/web-signer.ts'
export * from './exports.ts'

// Bundlers see these expressions and put the files beside the bundle; only the one that is used is fetched.
const V8_URL = new URL('../../engines/current/v8.wasm', import.meta.url)
const PORTABLE_URL = new URL('../../engines/current/portable.wasm', import.meta.url)

/** JavaScriptCore keeps no counter in registers: it runs the other profile faster. Counts are equal. */
function isJavaScriptCore(): boolean {
  const { navigator } = globalThis as { navigator?: { readonly vendor?: string } }
  return /Apple/.test(navigator?.vendor ?? '')
}

/**
 * The engine that comes with the package, from another place: for bundlers that do not follow
 * `new URL(..., import.meta.url)`. Import `caisson/engine/v8.wasm` as a file and give its URL.
 */
export function engineFromUrl(url: string | URL): EngineSource {
  return urlEngine({ url, manifest: ENGINE_MANIFEST, guest, profile: 'v8' })
}

let engines: EngineSource | undefined

/** One source for all runtimes of the page: the engine is fetched and compiled once, when first needed. */
function packagedEngines(): EngineSource {
  const portable = isJavaScriptCore()
  engines ??= urlEngine({
    url: portable ? PORTABLE_URL : V8_URL,
    manifest: ENGINE_MANIFEST,
    guest,
    profile: portable ? 'portable' : 'v8',
  })
  return engines
}

/** Opens a runtime with the engine that comes with the package. */
export function openRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  return createRuntime(
    {
      clock: systemClock,
      entropy: systemEntropy,
      openMemoryStore: createMemoryRunStore,
      checkpoints: webCheckpointPorts,
      signatures: webSignatureCheck,
      typescript: packagedTypeScript,
      modules: async () => ({ wasi: (await import('../../host-bindings/wasi/wasi-source.ts')).wasiSource }),
      engines: packagedEngines(),
      openWorker: () =>
        openWebWorker(() => new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })),
    },
    options,
  )
}
