import { describe, expect, it } from 'vitest'
import { findBinding, inputIssues, invokeBinding } from '../invoke-binding.testkit.ts'
import { openTestServer } from './http-server.testkit.ts'
import { createNodeFetchCapabilities } from './node/node-fetch-capabilities.node.ts'
import { createNodeTransport } from './node/node-transport.node.ts'
import { describeTransport } from './transport.contract.ts'
import { createWebFetchCapabilities } from './web-fetch-capabilities.ts'
import { createWebTransport } from './web-transport.ts'

describeTransport('node:http', (exceptions) => createNodeTransport(exceptions))
describeTransport('web fetch, edge', (exceptions) => createWebTransport(exceptions, 'edge'))
describeTransport('web fetch, browser', (exceptions) => createWebTransport(exceptions, 'browser'))

describe('net.fetch', () => {
  it('gives text or bytes, with status and headers', async () => {
    await using server = await openTestServer((_request, response) => {
      response.writeHead(404, { 'content-type': 'text/plain; charset=iso-8859-1', 'set-cookie': 'a=1' })
      response.end(Buffer.from([0xe4]))
    })
    const address = `127.0.0.1:${server.port}`
    const net = createNodeFetchCapabilities({ allow: [address], allowPrivate: [address] })
    const url = `${server.origin}/a#fragment`
    expect(await invokeBinding(net, 'net.fetch', { url })).toMatchObject({
      url: `${server.origin}/a`,
      status: 404,
      ok: false,
      redirected: false,
      body: 'ä',
      headers: { 'content-type': 'text/plain; charset=iso-8859-1' },
    })
    const bytes = await invokeBinding(net, 'net.fetch', { url, as: 'bytes' })
    expect(bytes).toMatchObject({ body: Uint8Array.of(0xe4) })
    expect((bytes as { headers: object }).headers).not.toHaveProperty('set-cookie')
  })

  it('follows, hands over or refuses a redirect as asked', async () => {
    await using server = await openTestServer((request, response) => {
      if (request.url === '/end') response.end('end')
      else response.writeHead(302, { location: request.url === '/loop' ? '/loop' : '/end' }).end('moved')
    })
    const address = `127.0.0.1:${server.port}`
    const net = createNodeFetchCapabilities({ allow: [address], allowPrivate: [address] })
    const fetch = (path: string, more: object = {}) =>
      invokeBinding(net, 'net.fetch', { url: server.origin + path, ...more })
    expect(await fetch('/a')).toMatchObject({ body: 'end', redirected: true, url: `${server.origin}/end` })
    expect(await fetch('/a', { redirect: 'manual' })).toMatchObject({
      status: 302,
      headers: { location: '/end' },
    })
    await expect(fetch('/a', { redirect: 'error' })).rejects.toMatchObject({ code: 'network_failed' })
    await expect(fetch('/loop')).rejects.toThrow('More than 5 redirects')
  })

  it('offers reading methods unless told otherwise, and says what it may', () => {
    const reading = createNodeFetchCapabilities({ allow: ['example.com'] })
    expect(findBinding(reading, 'net.fetch')).toMatchObject({ effect: 'read' })
    expect(findBinding(reading, 'net.fetch').description).toContain('example.com')
    expect(inputIssues(reading, 'net.fetch', { url: 'https://example.com', method: 'POST' })).toContain(
      'GET, HEAD',
    )
    const writing = createNodeFetchCapabilities({ allow: ['example.com'], methods: ['GET', 'POST'] })
    expect(findBinding(writing, 'net.fetch')).toMatchObject({ effect: 'write' })
  })

  it('refuses options that cannot work', () => {
    const refused = expect.objectContaining({ code: 'invalid_argument' })
    expect(() => createNodeFetchCapabilities({ allow: ['127.0.0.1:8080'] })).toThrow('allowPrivate')
    expect(() => createNodeFetchCapabilities({ allow: ['*.co.uk'] })).toThrow(refused)
    expect(() => createNodeFetchCapabilities({ allow: [], maxRedirects: 21 })).toThrow(refused)
    expect(() => createNodeFetchCapabilities({ allow: [], maxResponseBytes: Number.NaN })).toThrow(refused)
    expect(() => createWebFetchCapabilities({ allow: ['*.example.com'] })).toThrow(refused)
  })

  it('in a page: refuses a redirect whose target it cannot see', async () => {
    const opaque = Object.defineProperty(new Response(), 'type', { value: 'opaqueredirect' })
    const net = createWebFetchCapabilities({ allow: ['example.com'], fetch: async () => opaque })
    await expect(invokeBinding(net, 'net.fetch', { url: 'https://example.com' })).rejects.toMatchObject({
      code: 'network_denied',
    })
  })

  it('in a page: sends no cookies, no referrer, and asks no cache', async () => {
    const inits: unknown[] = []
    const fetch = async (_url: unknown, init?: RequestInit): Promise<Response> => {
      inits.push(init)
      return new Response('x')
    }
    const net = createWebFetchCapabilities({ allow: ['example.com'], fetch })
    await invokeBinding(net, 'net.fetch', { url: 'https://example.com' })
    expect(inits).toMatchObject([
      { credentials: 'omit', referrerPolicy: 'no-referrer', cache: 'no-store', redirect: 'manual' },
    ])
  })
})
