/** The engine of this version. Written by `npm run build:engine -- --accept`; do not edit by hand. */
import type { EngineManifest } from './engine.ts'

export const ENGINE_MANIFEST: EngineManifest = {
  format: 1,
  id: 'quickjs-dfd50220f6e1c1da',
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
      sha256: 'b4137d52b664c675c80db91c0f424303731e2c52110054b786aa6904d1d61aa1',
      bytes: 689831,
    },
    portable: {
      sha256: '849d7aaded19e96ebcf4731976b3de5bf611801073ba5d37a1eb47d777f0b185',
      bytes: 661637,
    },
  },
}
