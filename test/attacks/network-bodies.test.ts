/** Attacks on `net.fetch` by what servers send: too much, too slowly, or not what they said. */
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import type { NodeFetchOptions } from '../../host-bindings/fetch/node/node-fetch-capabilities.node.ts'
import { call, closeServers, serve, serveRaw } from './network-world.ts'

afterEach(closeServers)

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
