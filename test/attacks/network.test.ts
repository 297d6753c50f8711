/** Attacks on `net.fetch`: nothing but the allowed origins is reached, whatever servers, names and URLs say. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, createServer as createRawServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import {
  openTestServer,
  requestText,
  type TestHandler,
  type TestServer,
} from '../../host-bindings/fetch/http-server.testkit.ts'
import {
  createNodeFetchCapabilities,
  type NodeFetchOptions,
} from '../../host-bindings/fetch/node/node-fetch-capabilities.node.ts'
import { invokeBinding } from '../../host-bindings/invoke-binding.testkit.ts'

const denied = expect.objectContaining({ code: 'network_denied' })

const open: AsyncDisposable[] = []
afterEach(async () => {
  for (const server of open.splice(0)) await server[Symbol.asyncDispose]()
})

async function serve(handler: TestHandler, host?: string, port?: number): Promise<TestServer> {
  const server = await openTestServer(handler, host, port)
  open.push(server)
  return server
}

/** A server that speaks bytes, for what `node:http` would not say. */
async function serveRaw(talk: (socket: Socket) => void): Promise<number> {
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

interface Call {
  readonly options: NodeFetchOptions
  readonly args: Readonly<Record<string, unknown>>
  readonly signal?: AbortSignal
}

const call = async ({ options, args, signal }: Call): Promise<Record<string, unknown>> =>
  (await invokeBinding(
    createNodeFetchCapabilities(options),
    'net.fetch',
    args,
    signal && { signal },
  )) as Record<string, unknown>

/** A resolver that knows these names only, and remembers what it was asked. */
function fakeDns(names: Readonly<Record<string, readonly (readonly string[])[]>>) {
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

describe('38: redirects', () => {
  it('to a host that is not allowed, or to a private address, are not followed', async () => {
    const victim = await serve((_request, response) => response.end('SECRET'), '127.0.0.2')
    const { resolve } = fakeDns({ 'other.test': [['127.0.0.2']], 'inside.test': [['127.0.0.2']] })
    const targets = [
      victim.origin,
      `http://other.test:${victim.port}/`,
      `http://inside.test:${victim.port}/`,
      'http://169.254.169.254/latest/meta-data/',
      'file:///etc/passwd',
      'data:text/plain,x',
    ]
    const server = await serve((request, response) => {
      response.writeHead(302, { location: targets[Number(request.url?.slice(1))] }).end()
    })
    const address = `127.0.0.1:${server.port}`
    const allow = [address, '169.254.169.254', `inside.test:${victim.port}`]
    for (const index of targets.keys()) {
      const options = { allow, allowPrivate: [address], resolve }
      await expect(call({ options, args: { url: `${server.origin}/${index}` } })).rejects.toEqual(denied)
    }
    expect(victim.asked).toEqual([])
  })

  it('to a name that is not allowed are not followed, also where its address may be connected to', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(302, { location: `http://other.test:${server.port}/there` }).end()
    })
    const { resolve, asked } = fakeDns({ 'name.test': [['127.0.0.1']], 'other.test': [['127.0.0.1']] })
    const options = {
      allow: [`name.test:${server.port}`],
      allowPrivate: [`127.0.0.1:${server.port}`],
      resolve,
    }
    await expect(call({ options, args: { url: `http://name.test:${server.port}/` } })).rejects.toEqual(denied)
    expect(asked).toEqual(['name.test'])
    expect(server.asked).toEqual(['GET /'])
  })

  it('to another origin lose credentials, those of the embedder and those of the program', async () => {
    const seen: Record<string, unknown>[] = []
    const record: TestHandler = (request, response) => {
      seen.push({ host: request.headers.host, ...request.headers })
      if (request.url === '/there') response.end('done')
      else response.writeHead(307, { location: `http://second.test:${second.port}/there` }).end()
    }
    const first = await serve(record)
    const second = await serve(record)
    const { resolve } = fakeDns({ 'first.test': [['127.0.0.1']], 'second.test': [['127.0.0.1']] })
    const result = await call({
      options: {
        allow: [`first.test:${first.port}`, `second.test:${second.port}`],
        allowPrivate: [`127.0.0.1:${first.port}`, `127.0.0.1:${second.port}`],
        programHeaders: ['authorization'],
        headersFor: (url) => (url.hostname === 'first.test' ? { 'X-Embedder-Key': 'K' } : undefined),
        resolve,
      },
      args: {
        url: `http://first.test:${first.port}/`,
        headers: { authorization: 'Bearer T', 'x-api-key': 'P', accept: 'text/html' },
      },
    })
    expect(result).toMatchObject({ body: 'done', redirected: true })
    expect(seen[0]).toMatchObject({ authorization: 'Bearer T', 'x-embedder-key': 'K', 'x-api-key': 'P' })
    expect(seen[1]).toMatchObject({ accept: 'text/html', host: `second.test:${second.port}` })
    for (const header of ['authorization', 'x-embedder-key', 'x-api-key']) {
      expect(seen[1]).not.toHaveProperty(header)
    }
  })

  it('resolve the name of every hop anew, and check it', async () => {
    const victim = await serve((_request, response) => response.end('SECRET'), '127.0.0.2')
    const server = await serve(
      (_request, response) => response.writeHead(302, { location: '/again' }).end(),
      '127.0.0.1',
      victim.port,
    )
    const { resolve, asked } = fakeDns({ 'name.test': [['127.0.0.1'], ['127.0.0.2']] })
    const options = {
      allow: [`name.test:${server.port}`],
      allowPrivate: [`127.0.0.1:${server.port}`],
      resolve,
    }
    await expect(call({ options, args: { url: `http://name.test:${server.port}/` } })).rejects.toEqual(denied)
    expect(asked).toEqual(['name.test', 'name.test'])
    expect(victim.asked).toEqual([])
  })
})

describe('39: DNS', () => {
  it('rebinding: the connection goes to the address that was checked, and the name is asked once', async () => {
    const good = await serve((request, response) => response.end(`good ${request.headers.host}`))
    const victim = await serve((_request, response) => response.end('SECRET'), '127.0.0.2', good.port)
    const { resolve, asked } = fakeDns({ 'rebind.test': [['127.0.0.1'], ['127.0.0.2']] })
    const options = { allow: [`rebind.test:${good.port}`], allowPrivate: [`127.0.0.1:${good.port}`], resolve }
    const args = { url: `http://rebind.test:${good.port}/` }
    expect(await call({ options, args })).toMatchObject({ body: `good rebind.test:${good.port}` })
    expect(asked).toEqual(['rebind.test'])
    await expect(call({ options, args })).rejects.toEqual(denied)
    expect(victim.asked).toEqual([])
  })

  it.each([
    ['one private address among public ones', ['93.184.216.34', '10.0.0.1']],
    ['a private address after a mapped public one', ['::ffff:8.8.8.8', '::ffff:10.0.0.1']],
    ['a metadata service', ['169.254.169.254']],
    ['NAT64 of loopback', ['64:ff9b::7f00:1']],
    ['an address with a zone', ['fe80::1%eth0']],
    ['a name instead of an address', ['localhost']],
    ['a short address', ['127.1']],
  ])('an answer with %s is refused', async (_what, addresses) => {
    const { resolve } = fakeDns({ 'name.test': [addresses] })
    await expect(
      call({ options: { allow: ['name.test'], resolve }, args: { url: 'http://name.test/' } }),
    ).rejects.toEqual(denied)
  })

  it('an answer without addresses, with thousands, or none at all is a failure', async () => {
    const { resolve } = fakeDns({ 'none.test': [[]], 'many.test': [Array(5_000).fill('8.8.8.8')] })
    for (const name of ['none.test', 'many.test', 'missing.test']) {
      await expect(
        call({ options: { allow: [name], resolve }, args: { url: `http://${name}/` } }),
      ).rejects.toMatchObject({ code: 'network_failed' })
    }
  })

  it('a resolver that never answers does not outlive the call', async () => {
    const options = { allow: ['slow.test'], resolve: () => new Promise<never>(() => {}) }
    const signal = AbortSignal.timeout(30)
    await expect(call({ options, args: { url: 'http://slow.test/' }, signal })).rejects.toMatchObject({
      code: 'aborted',
    })
  })
})

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

describe('42: bodies', () => {
  const fetchFrom = (port: number, more: Partial<NodeFetchOptions> = {}, signal?: AbortSignal) =>
    call({
      options: { allow: [`127.0.0.1:${port}`], allowPrivate: [`127.0.0.1:${port}`], ...more },
      args: { url: `http://127.0.0.1:${port}/` },
      ...(signal !== undefined && { signal }),
    })
  const tooLarge = expect.objectContaining({ code: 'result_too_large' })

  it('an endless body stops at the cap', async () => {
    let sent = 0
    const server = await serve((_request, response) => {
      const more = (): void => {
        sent += 65_536
        if (response.write(Buffer.alloc(65_536))) setImmediate(more)
        else response.once('drain', more)
      }
      more()
    })
    await expect(fetchFrom(server.port, { maxResponseBytes: 100_000 })).rejects.toEqual(tooLarge)
    expect(sent).toBeLessThan(64 * 1024 * 1024)
  })

  it.each([
    ['gzip', (data: Buffer) => gzipSync(data)],
    ['br', (data: Buffer) => brotliCompressSync(data)],
  ])('a bomb in %s is stopped by what it inflates to', async (encoding, compress) => {
    const bomb = compress(Buffer.alloc(30 * 1024 * 1024))
    const server = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end(bomb)
    })
    expect(bomb.byteLength).toBeLessThan(100_000)
    await expect(fetchFrom(server.port, { maxResponseBytes: 1_000_000 })).rejects.toEqual(tooLarge)
  })

  it('a compressed stream that inflates to nothing is stopped by what comes over the wire', async () => {
    const empty = gzipSync('')
    const server = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' })
      const more = (): void => {
        if (response.write(Buffer.concat(Array(1_000).fill(empty)))) setImmediate(more)
        else response.once('drain', more)
      }
      more()
    })
    await expect(fetchFrom(server.port, { maxResponseBytes: 200_000 })).rejects.toEqual(tooLarge)
  })

  it.each(['gzip, gzip', 'zstd', 'compress'])(
    'the encoding "%s", which was not asked for, is refused',
    async (encoding) => {
      const server = await serve((_request, response) => {
        response.writeHead(200, { 'content-encoding': encoding }).end('x')
      })
      await expect(fetchFrom(server.port)).rejects.toMatchObject({ code: 'network_failed' })
    },
  )

  it('damaged and cut compressed bodies are failures', async () => {
    const whole = gzipSync('x'.repeat(10_000))
    const server = await serve((request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' })
      response.end(request.url === '/' ? whole.subarray(0, 20) : Buffer.from('no gzip at all'))
    })
    await expect(fetchFrom(server.port)).rejects.toMatchObject({ code: 'network_failed' })
  })

  it('a body that trickles, and headers that trickle, end with the call', async () => {
    const bodyPort = await serveRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n')
      setInterval(() => socket.writable && socket.write('x'), 5).unref()
    })
    await expect(fetchFrom(bodyPort, {}, AbortSignal.timeout(60))).rejects.toMatchObject({ code: 'aborted' })
    const headerPort = await serveRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      setInterval(() => socket.writable && socket.write('x: y\r\n'), 5).unref()
    })
    await expect(fetchFrom(headerPort, {}, AbortSignal.timeout(60))).rejects.toMatchObject({
      code: 'aborted',
    })
  })

  it('a body of single-byte chunks costs no more than its size', async () => {
    const port = await serveRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
      socket.end(`${'1\r\nx\r\n'.repeat(100_000)}0\r\n\r\n`)
    })
    expect(await fetchFrom(port)).toMatchObject({ body: 'x'.repeat(100_000) })
  })

  it('endless headers, a status that is none, and other protocols are failures', async () => {
    const answers = [
      `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(100_000)}`,
      `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`,
      'HTTP/1.1 banana\r\n\r\n',
      'SSH-2.0-OpenSSH_9\r\n',
      'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
      'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      'HTTP/1.1 200 OK\r\nx: a\0b\r\n\r\n',
    ]
    for (const answer of answers) {
      const port = await serveRaw((socket) => socket.end(answer))
      await expect(fetchFrom(port), answer.slice(0, 40)).rejects.toMatchObject({ code: 'network_failed' })
    }
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

const hasOpenssl = ((): boolean => {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()

describe.runIf(hasOpenssl)('TLS', () => {
  it('trusts only certificates of known authorities, and only for the name that was asked', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'caisson-tls-'))
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const subject = ['-subj', '/CN=secure.test', '-addext', 'subjectAltName=DNS:secure.test']
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'rsa:2048',
        '-nodes',
        '-days',
        '2',
        '-keyout',
        key,
        '-out',
        cert,
        ...subject,
      ],
      { stdio: 'ignore' },
    )
    const certificate = readFileSync(cert, 'utf8')
    const server = createSecureServer({ key: readFileSync(key), cert: certificate }, (_request, response) =>
      response.end('secure'),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const { resolve } = fakeDns({ 'secure.test': [['127.0.0.1']], 'other.test': [['127.0.0.1']] })
    const options = {
      allow: [`secure.test:${port}`, `other.test:${port}`],
      allowPrivate: [`127.0.0.1:${port}`],
      resolve,
    }
    const trusting = { ...options, certificateAuthorities: [certificate] }
    const args = { url: `https://secure.test:${port}/` }
    try {
      expect(await call({ options: trusting, args })).toMatchObject({ body: 'secure' })
      await expect(call({ options, args })).rejects.toMatchObject({ code: 'network_failed' })
      await expect(
        call({ options: trusting, args: { url: `https://other.test:${port}/` } }),
      ).rejects.toMatchObject({ details: { reason: 'ERR_TLS_CERT_ALTNAME_INVALID' } })
    } finally {
      server.closeAllConnections()
      server.close()
      rmSync(folder, { recursive: true })
    }
  })
})
