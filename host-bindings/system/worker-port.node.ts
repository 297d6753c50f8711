/** A Worker of Node as a `WorkerPort`. */
import { Worker } from 'node:worker_threads'
import type { WorkerPort } from '../../src/ports/worker-port.ts'

/** Starts a Worker. It does not keep the process alive by itself. */
export function openNodeWorker(script: URL): WorkerPort {
  // Flags of the host's own program (`--input-type`, `--import`) are not the Worker's, and may stop it.
  const worker = new Worker(script, { execArgv: [] })
  worker.unref()
  return {
    post: (message, moved = []) => worker.postMessage(message, [...moved]),
    listen(onMessage, onFailure) {
      worker.removeAllListeners()
      worker.on('message', (message: unknown) => onMessage(message))
      worker.on('error', onFailure)
      worker.on('exit', (code) => onFailure(new Error(`The Worker exited with code ${code}.`)))
      worker.unref()
    },
    async terminate() {
      worker.removeAllListeners()
      worker.on('error', () => {})
      await worker.terminate()
    },
  }
}
