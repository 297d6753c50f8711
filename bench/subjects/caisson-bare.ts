/** Caisson with an empty prelude, below the public API: what guests have beside the language costs the difference. */
import { systemClock } from '../../host-bindings/system/system-clock.ts'
import { ENGINE_MANIFEST } from '../../src/isolate/engine-manifest.ts'
import { acquireTrial, liveImageTrial } from '../guest/caisson-trials.ts'
import { createEnginePool } from './engine-files.ts'
import type { Subject } from './subject.ts'

/** Has a function for whatever the host asks of a prelude, and no globals. */
const EMPTY_PRELUDE = '(()=>new Proxy({},{get:()=>()=>-1}))'

const createPool = () =>
  createEnginePool(systemClock.monotonic, { prelude: EMPTY_PRELUDE, hostFunctions: [], units: {} })

export function openCaissonBare(): Subject {
  const bare = { unable: 'is Caisson without the library of guests: see the suite guest' }
  return {
    id: 'caisson-bare',
    kind: 'sandbox',
    version: ENGINE_MANIFEST.upstream.version,
    note: 'the engine of Caisson with an empty prelude',
    acquire: bare,
    firstResult: bare,
    hostCall: () => bare,
    throughput: () => bare,
    guest: {
      acquire: async () => acquireTrial(await createPool()),
      'live-image': async () => liveImageTrial(await createPool()),
    },
  }
}
