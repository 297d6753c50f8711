/** Composition root for Node, Bun and Deno. */
import { fileEngine } from '../../host-bindings/engines/file-engine.node.ts'
import { packagedTypeScript } from '../../host-bindings/engines/packaged-typescript.ts'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { nodeCheckpointPorts } from '../../host-bindings/system/checkpoint-ports.node.ts'
import { nodePageTools } from '../../host-bindings/system/page-tools.node.ts'
import { nodeSignatureCheck } from '../../host-bindings/system/signer.node.ts'
import { systemClock } from '../../host-bindings/system/system-clock.ts'
import { systemEntropy } from '../../host-bindings/system/system-entropy.ts'
import { openNodeWorker } from '../../host-bindings/system/worker-port.node.ts'
import { loadOnce } from '../base/load-once.ts'
import { ENGINE_MANIFEST } from '../isolate/engine-manifest.ts'
import type { RuntimeOptions } from '../runtime/options.ts'
import { createRuntime } from '../runtime/pooled-runtime.ts'
import type { Runtime } from '../runtime/runtime.ts'

export { parsePublicKey } from '../../host-bindings/system/ed25519-keys.ts'
export { openSigner } from '../../host-bindings/system/signer.node.ts'
export * from './exports.ts'

// JavaScriptCore (Bun) keeps no counter in registers: it runs the other profile faster.
const profile = process.versions.bun === undefined ? 'v8' : 'portable'

const engines = fileEngine({
  folder: new URL('../../engines/', import.meta.url),
  manifest: ENGINE_MANIFEST,
  profile,
})

// Run from source (tests, tsx), a Worker still needs JavaScript: the built one.
const workerScript = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/src/entry/worker.node.js' : './worker.node.js',
  import.meta.url,
)

const prepareScript = new URL(
  import.meta.url.endsWith('.ts')
    ? '../../dist/src/entry/prepare-worker.node.js'
    : './prepare-worker.node.js',
  import.meta.url,
)

const moduleTools = loadOnce(async () => {
  const { nodeModuleTools } = await import('../../host-bindings/wasi/node/module-tools.node.ts')
  return nodeModuleTools(() => openNodeWorker(prepareScript))
})

/** Opens a runtime with the engine that comes with the package. */
export function openRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  return createRuntime(
    {
      clock: systemClock,
      entropy: systemEntropy,
      openMemoryStore: createMemoryRunStore,
      checkpoints: nodeCheckpointPorts,
      signatures: nodeSignatureCheck,
      engines,
      openWorker: () => openNodeWorker(workerScript),
      pageTools: nodePageTools,
      typescript: packagedTypeScript,
      modules: moduleTools,
    },
    options,
  )
}
