/** What a platform brings so that WASI modules can be prepared and run. */
import type { Asyncify } from './asyncify.ts'
import type { WasiSource } from './wasi-source.ts'
import type { WorkerPort } from './worker-port.ts'

export interface ModuleTools {
  readonly wasi: WasiSource
  /** Loads what makes modules suspendable; left out where it is not there. */
  readonly asyncify?: () => Promise<Asyncify>
  /** Of that, without loading it. */
  readonly asyncifyVersion?: string
  /** Starts a Worker that prepares one module; left out where there is none. */
  readonly openWorker?: () => WorkerPort
}
