/** A web Worker as a `WorkerPort`. */
import type { WorkerPort } from '../../src/ports/worker-port.ts'

/** Starts a module Worker. */
export function openWebWorker(create: () => Worker): WorkerPort {
  const worker = create()
  return {
    post: (message, moved = []) => worker.postMessage(message, [...moved]),
    listen(onMessage, onFailure) {
      worker.onmessage = (event: MessageEvent<unknown>) => onMessage(event.data)
      worker.onerror = (event) => {
        event.preventDefault()
        onFailure(new Error(event.message))
      }
      worker.onmessageerror = () => onFailure(new Error('A message of the Worker could not be read.'))
    },
    terminate() {
      worker.terminate()
      return Promise.resolve()
    },
  }
}
