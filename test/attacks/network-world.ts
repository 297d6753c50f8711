/** What attacks on `net.fetch` are made with: servers on this machine, and names that resolve as told. */
import { type AddressInfo, createServer as createRawServer, type Server, type Socket } from 'node:net'
import {
  openTestServer,
  type TestHandler,
  type TestServer,
} from '../../host-bindings/fetch/http-server.testkit.ts'
import {
  createNodeFetchCapabilities,
  type NodeFetchOptions,
} from '../../host-bindings/fetch/node/node-fetch-capabilities.node.ts'
import { invokeBinding } from '../../host-bindings/invoke-binding.testkit.ts'

const open: AsyncDisposable[] = []

/** Closes what was opened since. Call it after each test. */
export async function closeServers(): Promise<void> {
  for (const server of open.splice(0)) await server[Symbol.asyncDispose]()
}

/** A server that speaks HTTP, on this machine unless `host` says otherwise. */
export async function serve(handler: TestHandler, host?: string, port?: number): Promise<TestServer> {
  const server = await openTestServer(handler, host, port)
  open.push(server)
  return server
}

/** A server that speaks bytes, for what `node:http` would not say. */
export async function serveRaw(talk: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server: Server = createRawServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', () => talk(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open.push({
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  })
  return (server.address() as AddressInfo).port
}

/** One call of `net.fetch`, under these options. */
interface Call {
  readonly options: NodeFetchOptions
  readonly args: Readonly<Record<string, unknown>>
  readonly signal?: AbortSignal
}

/** Calls as the gate does, but with no gate around it. */
export const call = async ({ options, args, signal }: Call): Promise<Record<string, unknown>> =>
  (await invokeBinding(
    createNodeFetchCapabilities(options),
    'net.fetch',
    args,
    signal && { signal },
  )) as Record<string, unknown>

/** A resolver that knows these names only, and remembers what it was asked. */
export function fakeDns(names: Readonly<Record<string, readonly (readonly string[])[]>>): {
  readonly resolve: (name: string) => Promise<readonly string[]>
  readonly asked: readonly string[]
} {
  const asked: string[] = []
  const resolve = async (name: string): Promise<readonly string[]> => {
    const answers = names[name]
    const answer = answers?.[Math.min(asked.filter((earlier) => earlier === name).length, answers.length - 1)]
    asked.push(name)
    if (answer === undefined) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
    return answer
  }
  return { resolve, asked }
}
