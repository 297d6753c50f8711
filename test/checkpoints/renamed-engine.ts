/** A second engine build for tests: the one of this version under another name. */
import { fileEngine } from '../../host-bindings/engines/file-engine.node.ts'
import { ENGINE_MANIFEST } from '../../src/isolate/engine-manifest.ts'
import type { EngineSource } from '../../src/ports/engine-source.ts'

const OTHER = 'quickjs-00000000000000aa'

export async function renamedEngine(): Promise<EngineSource> {
  const folder = new URL('../../engines/', import.meta.url)
  const loaded = await fileEngine({ folder, manifest: ENGINE_MANIFEST, profile: 'v8' }).load(
    ENGINE_MANIFEST.id,
  )
  const renamed = { ...loaded, manifest: { ...(loaded.manifest as object), id: OTHER } }
  return { ids: [OTHER], load: () => Promise.resolve(renamed) }
}
