/** The engine of this version. Written by `npm run build:engine -- --accept`; do not edit by hand. */
import type { EngineManifest } from './engine.ts'

export const ENGINE_MANIFEST: EngineManifest = {
  format: 1,
  id: 'quickjs-b4eda0e56503a227',
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
      sha256: '36d19b3bce7026d05d68d119bb9793366ce7e31e5aae3873ea20080f50aa66ec',
      bytes: 696500,
    },
    portable: {
      sha256: 'b9d4aba73170329947990630af6f7d2295ac3ad02f5d73c7896656ab3e5f588e',
      bytes: 659886,
    },
  },
}
