/** A Worker of Node as a `WorkerPort`. */
import { Worker } from 'node:worker_threads'
import type { WorkerPort } from '../../src/ports/worker-port.ts'

/** Starts a Worker. It does not keep the process alive by itself. */
export function openNodeWorker(script: URL): WorkerPort {
  const worker = new Worker(script)
  worker.unref()
  return {
    post: (message) => worker.postMessage(message),
    listen(onMessage, onFailure) {
      worker.removeAllListeners()
      worker.on('message', (message: unknown) => onMessage(message))
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
