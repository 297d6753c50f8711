/** A runtime whose Workers die or fall silent when a test says so: real threads, ended by the system. */
import { Worker } from 'node:worker_threads'
import { onTestFinished } from 'vitest'
import { fileEngine } from '../../host-bindings/engines/file-engine.node.ts'
import { nodeCheckpointPorts } from '../../host-bindings/system/checkpoint-ports.node.ts'
import { systemClock } from '../../host-bindings/system/system-clock.ts'
import { systemEntropy } from '../../host-bindings/system/system-entropy.ts'
import { ENGINE_MANIFEST } from '../../src/isolate/engine-manifest.ts'
import type { HostMessage } from '../../src/machine/worker-protocol.ts'
import type { WorkerPort } from '../../src/ports/worker-port.ts'
import type { RuntimeOptions } from '../../src/runtime/options.ts'
import { createRuntime } from '../../src/runtime/pooled-runtime.ts'
import type { Runtime } from '../../src/runtime/runtime.ts'

const SCRIPT = new URL('../../dist/src/entry/worker.node.js', import.meta.url)
const ENGINES = new URL('../../engines/', import.meta.url)

/** What a Worker does when it is told something: with it, or instead. */
export type Fate = 'lives' | 'dies' | 'falls silent'

export interface MortalWorkers {
  /** Threads that were started and have not ended. */
  readonly living: number
  /** Told before each message; the default lets all live. */
  fate: (type: HostMessage['type']) => Fate
  open(options: RuntimeOptions): Promise<Runtime>
}

export function mortalWorkers(): MortalWorkers {
  let living = 0
  const workers: MortalWorkers = {
    get living() {
      return living
    },
    fate: () => 'lives',
    async open(options) {
      const runtime = await createRuntime(
        {
          clock: systemClock,
          entropy: systemEntropy,
          checkpoints: nodeCheckpointPorts,
          engines: fileEngine({ folder: ENGINES, manifest: ENGINE_MANIFEST, profile: 'v8' }),
          openWorker,
        },
        options,
      )
      onTestFinished(() => runtime.close())
      return runtime
    },
  }
  const openWorker = (): WorkerPort => {
    const worker = new Worker(SCRIPT, { execArgv: [] })
    worker.unref()
    living += 1
    worker.on('exit', () => {
      living -= 1
    })
    return {
      post(message) {
        const fate = workers.fate((message as HostMessage).type)
        if (fate === 'dies') void worker.terminate()
        if (fate === 'lives') worker.postMessage(message)
      },
      listen(onMessage, onFailure) {
        worker.removeAllListeners('message')
        worker.on('message', onMessage)
        worker.on('error', onFailure)
        worker.on('exit', (code) => onFailure(new Error(`exit ${code}`)))
        worker.unref()
      },
      async terminate() {
        await worker.terminate()
      },
    }
  }
  return workers
}
