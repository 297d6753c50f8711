/** Serves a built page from memory-sized files, under the strictest policy that an embedder could have. */
import { readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, normalize } from 'node:path'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.wasm': 'application/wasm',
}

const POLICY = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; img-src data:"

/** Three events at `/events`, each of which is written when the one before was seen: somebody asked for `/seen`. */
function openEvents() {
  let stream: ServerResponse | undefined
  let written = 0
  const next = (): void => {
    written += 1
    if (written > 3) stream?.end()
    else stream?.write(`data: ${written}\n\n`)
  }
  return {
    begin(response: ServerResponse): void {
      stream = response
      written = 0
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      next()
    },
    next,
  }
}

export interface PageServer {
  readonly url: string
  close(): Promise<void>
}

export async function servePage(folder: string): Promise<PageServer> {
  const events = openEvents()
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname))
    if (path === '/events') return events.begin(response)
    if (path === '/seen') {
      events.next()
      return response.end()
    }
    const file = join(folder, path === '/' ? 'index.html' : path)
    try {
      const body = readFileSync(file)
      response.writeHead(200, {
        'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
        'content-security-policy': POLICY,
      })
      response.end(body)
    } catch {
      response.writeHead(404).end()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
