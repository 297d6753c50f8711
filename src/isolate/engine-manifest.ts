/** The engine of this version. Written by `npm run build:engine -- --accept`; do not edit by hand. */
import type { EngineManifest } from './engine.ts'

export const ENGINE_MANIFEST: EngineManifest = {
  format: 1,
  id: 'quickjs-4f50e6d8b7d44807',
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
      sha256: '00a656ab91c049ace4048ae6201e7040ccda06d459dce31ba9a268137749382d',
      bytes: 687837,
    },
    portable: {
      sha256: '76a13cc45a8013f0327ca256c68990c42bc9c5fbfb9234b4d447d3baeec52e66',
      bytes: 659637,
    },
  },
}
