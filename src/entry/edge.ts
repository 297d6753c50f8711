/**
 * Composition root for edge workers, where WebAssembly cannot be compiled at run time: the engine is a module
 * that the embedder imports statically (`import engine from 'caisson/engine/v8.wasm'`) and hands over.
 */
import guest from '../../engines/current/guest.json' with { type: 'json' }
import { packagedTypeScript } from '../../host-bindings/engines/packaged-typescript.ts'
import { staticEngine } from '../../host-bindings/engines/static-engine.ts'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { systemClock } from '../../host-bindings/system/system-clock.ts'
import { systemEntropy } from '../../host-bindings/system/system-entropy.ts'
import { webCheckpointPorts } from '../../host-bindings/system/web-checkpoint-ports.ts'
import { webSignatureCheck } from '../../host-bindings/system/web-signer.ts'
import { ENGINE_MANIFEST } from '../isolate/engine-manifest.ts'
import type { CompiledModule } from '../ports/engine-source.ts'
import type { RuntimeOptions } from '../runtime/options.ts'
import { createRuntime } from '../runtime/pooled-runtime.ts'
import type { Runtime } from '../runtime/runtime.ts'

export { parsePublicKey } from '../../host-bindings/system/ed25519-keys.ts'
export { openSigner } from '../../host-bindings/system/web-signer.ts'
export * from './exports.ts'

export interface EdgeRuntimeOptions extends RuntimeOptions {
  /** The imported engine module. */
  readonly engine: CompiledModule
}

/**
 * Opens a runtime. In edge workers the clock may stand still while code runs: limit guests by fuel there, a
 * wall deadline alone may not fire before the guest awaits.
 */
export function openRuntime({ engine, ...options }: EdgeRuntimeOptions): Promise<Runtime> {
  return createRuntime(
    {
      clock: systemClock,
      entropy: systemEntropy,
      openMemoryStore: createMemoryRunStore,
      checkpoints: webCheckpointPorts,
      signatures: webSignatureCheck,
      typescript: packagedTypeScript,
      modules: async () => ({ wasi: (await import('../../host-bindings/wasi/wasi-source.ts')).wasiSource }),
      engines: staticEngine({ manifest: ENGINE_MANIFEST, module: engine, guest, profile: 'v8' }),
    },
    options,
  )
}
