/** The engine of this version. Written by `npm run build:engine -- --accept`; do not edit by hand. */
import type { EngineManifest } from './engine.ts'

export const ENGINE_MANIFEST: EngineManifest = {
  format: 1,
  id: 'quickjs-3ae5b8c1746aebb7',
  upstream: {
    package: '@jitl/quickjs-wasmfile-release-sync',
    version: '0.32.0',
    sha256: '105c3bed22d457e43e3d1c3c1c6959fda62a8fe06f0fc8a985303c3a2be72232',
  },
  layout: {
    stackEnd: 90208,
    stackBase: 352352,
    initialPages: 12,
    heapEndAddress: 86864,
    rejectionSlot: 471,
    rejectionField: 160,
  },
  costs: '6d2d9085f2c321e24a622bfc2312683c2a009c226522e05517e079ddf2771508',
  profiles: {
    v8: {
      sha256: '889ec6626d2cd20db3c9a195f8c68731858399ffb89a3149f1ebdef2bac417c8',
      bytes: 675729,
    },
    portable: {
      sha256: 'a38b3d49351c2a57c6f78315b88e2eb43cae07a821abcad7c2b77b3bbdd021d4',
      bytes: 648679,
    },
  },
}
