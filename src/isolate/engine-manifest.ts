/** The engine of this version. Written by `npm run build:engine -- --accept`; do not edit by hand. */
import type { EngineManifest } from './engine.ts'

export const ENGINE_MANIFEST: EngineManifest = {
  format: 1,
  id: 'quickjs-c0fd249e5895412c',
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
      sha256: 'f21dbf4132a3b1f6f7a0820de0919d14d3590ec52db3d505f0497faefa49d676',
      bytes: 696314,
    },
    portable: {
      sha256: 'fd58d760bc36ff0a16f49216396cab6bb674cd967fcc58c0b17d4bac94a3ad01',
      bytes: 659793,
    },
  },
}
