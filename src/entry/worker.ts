/** What runs in a web Worker for `thread: 'worker'`. */
import { WorkerHost } from '../isolate/worker-host.ts'
import type { HostMessage } from '../machine/worker-protocol.ts'

const host = new WorkerHost(
  (message) => postMessage(message),
  () => performance.now(),
)
addEventListener('message', (event: MessageEvent<HostMessage>) => host.receive(event.data))
