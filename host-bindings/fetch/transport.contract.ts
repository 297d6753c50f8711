/** What every `Transport` must do. Run it over each implementation, in Node: the other end is a real server. */
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { openTestServer, requestText, type TestHandler, type TestServer } from './http-server.testkit.ts'
import { type PrivateExceptions, parsePrivateExceptions } from './public-address.ts'
import { collectBody } from './response-body.ts'
import type { HttpRequest, Transport } from './transport.ts'

/** Registers the contract's tests for the transports that `create` gives. */
export function describeTransport(name: string, create: (exceptions: PrivateExceptions) => Transport): void {
  describe(`transport: ${name}`, () => {
    const servers: TestServer[] = []
    afterEach(async () => {
      for (const server of servers.splice(0)) await server[Symbol.asyncDispose]()
    })

    const serve = async (handler: TestHandler): Promise<TestServer> => {
      const server = await openTestServer(handler)
      servers.push(server)
      return server
    }
    const request = (url: string, overrides: Partial<HttpRequest> = {}): HttpRequest => ({
      url: new URL(url),
      method: 'GET',
      headers: {},
      body: undefined,
      maxResponseBytes: 1_000_000,
      ...overrides,
    })
    const transportTo = (server: TestServer): Transport =>
      create(parsePrivateExceptions([`127.0.0.1:${server.port}`]))
    const text = async (body: AsyncIterable<Uint8Array>): Promise<string> =>
      new TextDecoder().decode(await collectBody(body, 1_000_000))
    const never = new AbortController().signal

    it('sends method, headers and body, and nothing that identifies the host', async () => {
      const seen: Record<string, unknown>[] = []
      const server = await serve(async (incoming, response) => {
        seen.push({ method: incoming.method, body: await requestText(incoming), ...incoming.headers })
        response.end()
      })
      const sent = request(`${server.origin}/x`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-a': '1' },
        body: new TextEncoder().encode('{"ä":1}'),
      })
      const response = await transportTo(server)(sent, never)
      await text(response.body)
      expect(seen[0]).toMatchObject({
        method: 'POST',
        body: '{"ä":1}',
        'content-type': 'application/json',
        'content-length': '8',
        'x-a': '1',
        host: `127.0.0.1:${server.port}`,
      })
      for (const header of ['cookie', 'authorization', 'referer', 'origin', 'x-forwarded-for']) {
        expect(seen[0]).not.toHaveProperty(header)
      }
    })

    it('gives status, headers and body', async () => {
      const server = await serve((_incoming, response) => {
        response.writeHead(429, 'Too Many', { 'retry-after': '3', 'x-b': ['1', '2'] }).end('slow down')
      })
      const response = await transportTo(server)(request(server.origin), never)
      expect([response.status, response.statusText]).toEqual([429, 'Too Many'])
      const headers = [...response.headers].map(([key, value]) => `${key.toLowerCase()}=${value}`)
      expect(headers).toContain('retry-after=3')
      expect(await text(response.body)).toBe('slow down')
    })

    it('undoes the content encoding', async () => {
      const server = await serve((_incoming, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'.repeat(50_000)))
      })
      const response = await transportTo(server)(request(server.origin), never)
      expect(await text(response.body)).toBe('x'.repeat(50_000))
    })

    it('takes a HEAD response and a 204 for what they are: without body', async () => {
      const server = await serve((incoming, response) => {
        response.writeHead(incoming.method === 'HEAD' ? 200 : 204, { 'content-encoding': 'gzip' }).end()
      })
      for (const method of ['HEAD', 'GET']) {
        const response = await transportTo(server)(request(server.origin, { method }), never)
        expect(await text(response.body)).toBe('')
      }
    })

    it('follows no redirect', async () => {
      const server = await serve((_incoming, response) => {
        response.writeHead(302, { location: '/other' }).end()
      })
      const response = await transportTo(server)(request(`${server.origin}/first`), never)
      response.close()
      expect(response.status).toBe(302)
      expect(server.asked).toEqual(['GET /first'])
    })

    it('keeps no cookie from one exchange to the next', async () => {
      const cookies: unknown[] = []
      const server = await serve((incoming, response) => {
        cookies.push(incoming.headers.cookie)
        response.writeHead(200, { 'set-cookie': 'a=1; Path=/' }).end()
      })
      const transport = transportTo(server)
      for (let round = 0; round < 2; round++) {
        await text((await transport(request(server.origin), never)).body)
      }
      expect(cookies).toEqual([undefined, undefined])
    })

    it('connects to no address that is written out and not excepted', async () => {
      const server = await serve((_incoming, response) => response.end())
      const transport = create(new Set())
      for (const host of [
        '127.0.0.1',
        '2130706433',
        '0x7f.1',
        '[::ffff:127.0.0.1]',
        'localhost',
        'a.localhost',
      ]) {
        const denied = transport(request(`http://${host}:${server.port}/`), never)
        await expect(denied).rejects.toMatchObject({ name: 'CaissonError' })
      }
      expect(server.asked).toEqual([])
    })

    it('stops waiting for a response when it is aborted', async () => {
      const server = await serve(() => {})
      const controller = new AbortController()
      const response = transportTo(server)(request(server.origin), controller.signal)
      setTimeout(() => controller.abort(), 20)
      await expect(response).rejects.toMatchObject({ code: 'aborted' })
      await expect(transportTo(server)(request(server.origin), controller.signal)).rejects.toMatchObject({
        code: 'aborted',
      })
    })

    it('stops reading a body when it is aborted', async () => {
      const server = await serve((_incoming, response) => void response.writeHead(200).write('x'))
      const controller = new AbortController()
      const response = await transportTo(server)(request(server.origin), controller.signal)
      setTimeout(() => controller.abort(), 20)
      await expect(text(response.body)).rejects.toMatchObject({ code: 'aborted' })
    })

    it('says that a request failed: nobody listens, or the answer breaks off', async () => {
      const gone = await openTestServer(() => {})
      await gone[Symbol.asyncDispose]()
      await expect(transportTo(gone)(request(gone.origin), never)).rejects.toMatchObject({
        code: 'network_failed',
      })
      const server = await serve((_incoming, response) => {
        response.writeHead(200, { 'content-length': '100' }).write('x', () => response.destroy())
      })
      const half = transportTo(server)(request(server.origin), never).then((response) => text(response.body))
      await expect(half).rejects.toMatchObject({ code: 'network_failed' })
    })

    it('closes the connection when the body is not wanted', async () => {
      let closed: () => void = () => {}
      const whenClosed = new Promise<void>((resolve) => {
        closed = resolve
      })
      const server = await serve((_incoming, response) => {
        response.on('close', () => closed())
        response.writeHead(200).write('x'.repeat(100_000))
      })
      const response = await transportTo(server)(request(server.origin), never)
      response.close()
      await whenClosed
      expect(server.asked).toHaveLength(1)
    })
  })
}
