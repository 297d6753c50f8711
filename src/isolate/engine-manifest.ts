/** The engine of this version. Written by `npm run build:engine -- --accept`; do not edit by hand. */
import type { EngineManifest } from './engine.ts'

export const ENGINE_MANIFEST: EngineManifest = {
  format: 1,
  id: 'quickjs-9aa489d93cb89cc3',
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
  guest: '6048c41067fb190036d8cd5a858b48bfaa575c9b30c3536353535f6e5804baa5',
  base: 'sha256:ff9db156c93ac7279be52b6a06304652c81f5fc760c0a26f76f296f5ae72f17e',
  profiles: {
    v8: {
      sha256: 'e943977dfb653e769f3c2f487e55d2a956c1f18590d102041c88017ebff13cfb',
      bytes: 700119,
    },
    portable: {
      sha256: '6c72298d9c30d8df8a72c954830faaff97168e1311a833c8a7bcbc4793950262',
      bytes: 666791,
    },
  },
}
