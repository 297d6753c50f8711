/** A web Worker as the port that `machine/worker-driver` talks to. */
import type { HostMessage, WorkerMessage, WorkerPort } from '../../src/machine/worker-protocol.ts'

/** Starts a module Worker. */
export function openWebWorker(create: () => Worker): WorkerPort {
  const worker = create()
  return {
    post: (message: HostMessage) => worker.postMessage(message),
    listen(onMessage, onFailure) {
      worker.onmessage = (event: MessageEvent<WorkerMessage>) => onMessage(event.data)
      worker.onerror = (event) => {
        event.preventDefault()
        onFailure(new Error(event.message))
      }
      worker.onmessageerror = () => onFailure(new Error('A message of the Worker could not be read.'))
    },
    terminate: () => worker.terminate(),
  }
}
