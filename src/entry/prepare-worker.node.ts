/** What runs in a Worker of Node that prepares a core module. */
import { parentPort } from 'node:worker_threads'
import { loadBinaryenAsyncify } from '../../host-bindings/asyncify/binaryen-asyncify.ts'
import { PrepareHost } from '../component/core/prepare-host.ts'

if (parentPort !== null) {
  const port = parentPort
  const host = new PrepareHost((reply, moved) => port.postMessage(reply, moved), loadBinaryenAsyncify)
  port.on('message', (message) => void host.receive(message))
}
