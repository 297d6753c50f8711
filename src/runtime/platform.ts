/** What a composition root gives to `createRuntime`: the ports of one kind of host. */

import type { CheckpointPorts } from '../ports/checkpoint-ports.ts'
import type { Clock } from '../ports/clock.ts'
import type { EngineSource } from '../ports/engine-source.ts'
import type { Entropy } from '../ports/entropy.ts'
import type { ModuleTools } from '../ports/module-tools.ts'
import type { PageTools } from '../ports/page-tools.ts'
import type { RunStore } from '../ports/run-store.ts'
import type { SignatureCheck } from '../ports/signer.ts'
import type { TypeScriptSource } from '../ports/typescript-source.ts'
import type { WorkerPort } from '../ports/worker-port.ts'

export interface Platform {
  readonly clock: Clock
  readonly entropy: Entropy
  readonly engines: EngineSource
  /** Starts a Worker for `thread: 'worker'`; left out where there are none. */
  readonly openWorker?: () => WorkerPort
  /** What checkpoints are written and read with. */
  readonly checkpoints?: CheckpointPorts
  /** Checks signatures; left out where that cannot be done. */
  readonly signatures?: SignatureCheck
  /** Brings what makes JavaScript of TypeScript; left out, guests take JavaScript only. */
  readonly typescript?: TypeScriptSource
  /** A store that lives as long as the process: for plans of a runtime that was given none. */
  readonly openMemoryStore?: () => RunStore
  /** Left out where plain JavaScript is the fastest. */
  readonly pageTools?: PageTools
  /** Brings what WASI modules are prepared and run with; left out where they are not. */
  readonly modules?: () => Promise<ModuleTools>
}
