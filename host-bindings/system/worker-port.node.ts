/** A Worker of Node as the port that `machine/worker-driver` talks to. */
import { Worker } from 'node:worker_threads'
import type { HostMessage, WorkerMessage, WorkerPort } from '../../src/machine/worker-protocol.ts'

/** Starts a Worker. It does not keep the process alive by itself. */
export function openNodeWorker(script: URL): WorkerPort {
  const worker = new Worker(script)
  worker.unref()
  return {
    post: (message: HostMessage) => worker.postMessage(message),
    listen(onMessage, onFailure) {
      worker.removeAllListeners()
      worker.on('message', (message: WorkerMessage) => onMessage(message))
      worker.on('error', onFailure)
      worker.on('exit', (code) => onFailure(new Error(`The Worker exited with code ${code}.`)))
      worker.unref()
    },
    terminate() {
      worker.removeAllListeners()
      worker.on('error', () => {})
      void worker.terminate()
    },
  }
}
