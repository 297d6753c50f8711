/**
 * Attacks on `net.fetch` by servers and names: nothing but the allowed origins is reached, whatever they say. The
 * numbers are those of the project's list of attacks, here and in the other two files.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { TestHandler } from '../../host-bindings/fetch/http-server.testkit.ts'
import { call, closeServers, fakeDns, serve } from './network-world.ts'

const denied = expect.objectContaining({ code: 'network_denied' })

afterEach(closeServers)

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
