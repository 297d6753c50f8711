/** A real HTTP server on a loopback address for tests. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface TestServer extends AsyncDisposable {
  readonly port: number
  /** `http://127.0.0.1:PORT`, or the other address it was given. */
  readonly origin: string
  /** What it was asked, in order: `GET /path`. */
  readonly asked: readonly string[]
}

/** Answers one request; what it returns is not looked at. */
export type TestHandler = (request: IncomingMessage, response: ServerResponse) => unknown

/** Serves on a free port (or `port`) of `host` until it is disposed; connections still open are cut. */
export async function openTestServer(
  handler: TestHandler,
  host = '127.0.0.1',
  port = 0,
): Promise<TestServer> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    void handler(request, response)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const bound = (server.address() as AddressInfo).port
  return {
    port: bound,
    origin: `http://${host}:${bound}`,
    asked,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The whole body of a request, as text. */
export async function requestText(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}
