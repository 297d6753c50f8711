/** Attacks on `net.fetch` by what a program asks for: URLs, headers, and what the answers to them give away. */
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { openTestServer, requestText } from '../../host-bindings/fetch/http-server.testkit.ts'
import type { NodeFetchOptions } from '../../host-bindings/fetch/node/node-fetch-capabilities.node.ts'
import { call, closeServers, fakeDns, serve } from './network-world.ts'

const denied = expect.objectContaining({ code: 'network_denied' })

afterEach(closeServers)

describe('40 and 41: URLs', () => {
  const forms = [
    'http://127.0.0.1:PORT/',
    'http://2130706433:PORT/',
    'http://0x7f000001:PORT/',
    'http://0177.0.0.1:PORT/',
    'http://127.1:PORT/',
    'http://[::ffff:7f00:1]:PORT/',
    'http://[::ffff:127.0.0.1]:PORT/',
    'http://[64:ff9b::7f00:1]:PORT/',
    'http://①②⑦.⓪.⓪.①:PORT/',
    'http://0:PORT/',
    'http://localhost:PORT/',
    'http://LOCALHOST:PORT/',
    'http://%6c%6f%63%61%6c%68%6f%73%74:PORT/',
    'http://allowed.test@127.0.0.1:PORT/',
    'http://allowed.test:PORT@127.0.0.1:PORT/',
    'http://127.0.0.1:PORT#@allowed.test/',
    'http://127.0.0.1:PORT\\@allowed.test/',
    'http://allowed.test\\@127.0.0.1:PORT/',
    'http://127.0.0.1:PORT?@allowed.test/',
    'http://127.0.0.1:PORT/allowed.test',
    'http://allowed.test%2e127.0.0.1:PORT/',
    'http://allowed.test%00.127.0.0.1:PORT/',
    'http://allowed.test.:PORT/',
    'http://allowed。test.evil.test:PORT/',
    'http://allowed.te\tst:PORT/',
    'http://allowed.te\nst:PORT/',
    ' http://allowed.test:PORT/',
    'http:///127.0.0.1:PORT/',
    'http:127.0.0.1:PORT/',
    '//127.0.0.1:PORT/',
    'http://\u0430llowed.test:PORT/',
    'http://user:pass@allowed.test:PORT/',
    'file:///etc/passwd',
    'data:text/plain,x',
    'blob:http://allowed.test/x',
    'ftp://allowed.test/',
    'javascript:1',
    'ws://allowed.test:PORT/',
    'allowed.test',
    '',
  ]

  it('no way of writing a URL reaches this machine, or another host than the allowed one', async () => {
    const victim = await serve((_request, response) => response.end('SECRET'))
    const { resolve, asked } = fakeDns({ 'allowed.test': [['8.8.8.8']] })
    const options = { allow: [`allowed.test:${victim.port}`], resolve }
    for (const form of forms) {
      const args = { url: form.replaceAll('PORT', String(victim.port)) }
      await expect(call({ options, args }), form).rejects.toMatchObject({ name: 'CaissonError' })
    }
    expect(victim.asked).toEqual([])
    expect(asked).toEqual([])
  })

  it('every form of an address is refused also where the pattern names it, unless it was excepted', async () => {
    const victim = await serve((_request, response) => response.end('SECRET'))
    const options = { allow: ['127.0.0.1:*', '[::ffff:7f00:1]:*', '[64:ff9b::7f00:1]:*', 'localhost:*'] }
    for (const form of forms.slice(0, 13)) {
      const args = { url: form.replaceAll('PORT', String(victim.port)) }
      await expect(call({ options, args }), form).rejects.toEqual(denied)
    }
    expect(victim.asked).toEqual([])
  })

  it('whatever text is given as URL, only the allowed host is ever resolved', async () => {
    const { resolve, asked } = fakeDns({ 'allowed.test': [['127.0.0.1']] })
    const options = { allow: ['allowed.test', '*.allowed.org'], resolve }
    const piece = fc.constantFrom(
      ...[
        'http://',
        'https://',
        'allowed.test',
        'allowed.org',
        'evil.test',
        '127.0.0.1',
        '[::1]',
        '@',
        ':',
        '/',
      ],
      ...['\\', '#', '?', '.', '%2e', '%00', '\t', '\n', ' ', 'localhost', '0x7f.1', '80', '//', 'a'],
    )
    const urls = fc.oneof(
      fc.webUrl(),
      fc.array(piece, { maxLength: 10 }).map((pieces) => pieces.join('')),
    )
    await fc.assert(
      fc.asyncProperty(urls, async (url) => {
        await expect(call({ options, args: { url } })).rejects.toMatchObject({ name: 'CaissonError' })
      }),
      { numRuns: 500 },
    )
    for (const name of asked) expect(name).toMatch(/^allowed\.test$|\.allowed\.org$/)
  })

  it('an allowed request reaches the server under the host and path that were checked', async () => {
    const server = await serve((request, response) => response.end(`${request.headers.host} ${request.url}`))
    const { resolve } = fakeDns({ 'xn--bcher-kva.test': [['127.0.0.1']] })
    const result = await call({
      options: {
        allow: [`bücher.test:${server.port}`],
        allowPrivate: [`127.0.0.1:${server.port}`],
        resolve,
      },
      args: { url: `HTTP://BÜCHER.test:${server.port}/a/../ä?q=%00#f` },
    })
    expect(result.body).toBe(`xn--bcher-kva.test:${server.port} /%C3%A4?q=%00`)
  })
})

describe('43: headers of a program', () => {
  it('steer no connection, forge no host and carry no credentials', async () => {
    const server = await serve((_request, response) => response.end())
    const address = `127.0.0.1:${server.port}`
    for (const header of ['Host', 'Cookie', 'Authorization', 'Proxy-Authorization', 'Transfer-Encoding']) {
      const args = { url: server.origin, headers: { [header]: 'x' } }
      const error = call({ options: { allow: [address], allowPrivate: [address] }, args })
      await expect(error).rejects.toMatchObject({ code: 'denied', details: { header: header.toLowerCase() } })
    }
    expect(server.asked).toEqual([])
  })

  it('smuggle no second request through values, methods, paths or bodies', async () => {
    const bodies: string[] = []
    const server = await serve(async (request, response) => {
      bodies.push(await requestText(request))
      response.end()
    })
    const address = `127.0.0.1:${server.port}`
    const options: NodeFetchOptions = { allow: [address], allowPrivate: [address], methods: ['GET', 'POST'] }
    const smuggled = 'x\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n'
    await expect(call({ options, args: { url: server.origin, headers: { a: smuggled } } })).rejects.toThrow(
      'Latin-1',
    )
    await expect(
      call({ options, args: { url: server.origin, method: `GET / ${smuggled}` } }),
    ).rejects.toThrow('expected one of GET, POST')
    await expect(call({ options, args: { url: `${server.origin}/${smuggled}` } })).rejects.toEqual(denied)
    await expect(call({ options, args: { url: server.origin, body: smuggled } })).rejects.toThrow('no body')
    await call({ options, args: { url: server.origin, method: 'POST', body: smuggled } })
    expect(server.asked).toEqual(['POST /'])
    expect(bodies).toEqual([smuggled])
  })
})

describe('20: messages', () => {
  it('name no address, no answer of the resolver and no internals', async () => {
    const gone = await openTestServer(() => {})
    await gone[Symbol.asyncDispose]()
    const { resolve } = fakeDns({ 'gone.test': [['127.0.0.1']], 'inside.test': [['10.1.2.3']] })
    const options = {
      allow: [`gone.test:${gone.port}`, 'inside.test', 'missing.test'],
      allowPrivate: [`127.0.0.1:${gone.port}`],
      resolve,
    }
    for (const url of [`http://gone.test:${gone.port}/`, 'http://inside.test/', 'http://missing.test/']) {
      const error = await call({ options, args: { url } }).catch((thrown: unknown) => thrown)
      expect(String((error as Error).message)).not.toMatch(/127\.0\.0\.1|10\.1\.2\.3|node:|no such name/)
      expect(JSON.stringify((error as { details?: unknown }).details)).not.toMatch(/127\.0\.0\.1|10\.1\.2\.3/)
    }
  })
})
