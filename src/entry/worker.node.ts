/** What runs in a Worker of Node for `thread: 'worker'`. */
import { parentPort } from 'node:worker_threads'
import { nodePageTools } from '../../host-bindings/system/page-tools.node.ts'
import { WorkerHost } from '../isolate/worker-host.ts'

if (parentPort !== null) {
  const port = parentPort
  const host = new WorkerHost(
    (message) => port.postMessage(message),
    () => performance.now(),
    nodePageTools,
  )
  port.on('message', (message) => host.receive(message))
}
