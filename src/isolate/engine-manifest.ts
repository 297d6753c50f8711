import type { EngineManifest } from './engine.ts'
export const ENGINE_MANIFEST: EngineManifest = {
  format: 1,
  id: 'plain',
  upstream: { package: '', version: '', sha256: '' },
  layout: {
    stackEnd: 90208,
    stackBase: 352352,
    initialPages: 12,
    heapEndAddress: 86864,
    rejectionSlot: 471,
    rejectionField: 160,
  },
  costs: '',
  profiles: {
    v8: { sha256: '1c0ed442c5a600eb3b262030ec048c795f78a05d7c3f06e80291660196225354', bytes: 503658 },
    portable: { sha256: '1c0ed442c5a600eb3b262030ec048c795f78a05d7c3f06e80291660196225354', bytes: 503658 },
  },
}
