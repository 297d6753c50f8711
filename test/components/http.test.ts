/** Components that ask for something over HTTP, by what WASI 0.2 has for it: through `net.fetch`, to a real server. */
import { describe, expect, it } from 'vitest'
import { openTestServer, type TestServer } from '../../host-bindings/fetch/http-server.testkit.ts'
import { createMemoryPreparedStore } from '../../host-bindings/prepared/memory-prepared-store.ts'
import { readSample } from '../../scripts/samples/read-sample.ts'
import type { OpenComponent } from '../../src/component/open-component.ts'
import { createNodeFetchCapabilities } from '../../src/entry/bindings.node.ts'
import { capability, openRuntime, type Runtime } from '../../src/entry/node.ts'

/** It is prepared once. */
const cache = { store: createMemoryPreparedStore(), key: new Uint8Array(32).fill(7) }

/** `HTTP-request-denied`, by its place in `error-code`. */
const DENIED = 'failed with 15'

const serve = (): Promise<TestServer> =>
  openTestServer((request, response) => {
    if (request.url === '/moved') return response.writeHead(302, { location: '/a' }).end()
    if (request.url === '/cut') return request.socket.destroy()
    if (request.url === '/never') return
    if (request.url === '/large') return response.end('x'.repeat(50_000))
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const status = request.url?.startsWith('/missing') === true ? 404 : 200
      response.writeHead(status, { 'content-type': 'text/x' })
      const said = `${request.method} ${request.url} ${request.headers['x-asked-by']}`
      response.end(`${said} ${Buffer.concat(parts).toString()}`.trim())
    })
  })

function allowing(
  { origin, port }: TestServer,
  methods: ('GET' | 'POST')[] = ['GET', 'POST'],
): Promise<Runtime> {
  const capabilities = createNodeFetchCapabilities({
    allow: [origin],
    allowPrivate: [`127.0.0.1:${port}`],
    methods,
    maxResponseBytes: 100_000,
  })
  return openRuntime({ capabilities })
}

const open = async (runtime: Runtime, grants: readonly string[] = ['net.fetch']): Promise<OpenComponent> =>
  runtime.openComponent(await readSample('http-c'), { grants, wasi: {}, cache })

const host = ({ port }: TestServer): string => `127.0.0.1:${port}`

describe('a component that asks over HTTP', () => {
  it('gets status, fields and body, one request after the other, in the middle of its work', async () => {
    await using server = await serve()
    await using runtime = await allowing(server)
    const component = await open(runtime)
    expect(await component.call('ask', ['GET', host(server), '/a\n/missing?x=1', ''])).toMatchObject({
      status: 'completed',
      value: { tag: 'ok', val: '200 text/x GET /a a component\n404 text/x GET /missing?x=1 a component' },
    })
    expect(await component.call('ask', ['POST', host(server), '/b', 'some body'])).toMatchObject({
      value: { tag: 'ok', val: '200 text/x POST /b a component some body' },
    })
    expect(server.asked).toEqual(['GET /a', 'GET /missing?x=1', 'POST /b'])
  })

  it('is told that a request is denied, whatever forbids it, and nothing goes out', async () => {
    await using server = await serve()
    await using other = await serve()
    await using runtime = await allowing(server, ['GET'])
    for (const [grants, method, to] of [
      [['net.fetch'], 'GET', host(other)],
      [['net.fetch'], 'POST', host(server)],
      [['net.fetch'], 'GET', '169.254.169.254'],
    ] as const) {
      const component = await open(runtime, grants)
      expect(await component.call('ask', [method, to, '/a', ''])).toMatchObject({
        status: 'completed',
        value: { tag: 'err', val: DENIED },
      })
      expect(component.state).toBe('idle')
    }
    const component = await open(runtime, [])
    expect(await component.call('ask', ['GET', host(server), '/a', ''])).toMatchObject({
      value: { tag: 'err', val: 'refused with 15' },
    })
    expect([...server.asked, ...other.asked]).toEqual([])
  })

  it('pays for its requests out of the budget of its grant', async () => {
    await using server = await serve()
    await using runtime = await allowing(server)
    const component = await runtime.openComponent(await readSample('http-c'), {
      grants: [{ capability: 'net.fetch', calls: 2 }],
      wasi: {},
      cache,
    })
    expect(await component.call('ask', ['GET', host(server), '/a\n/b\n/c', ''])).toMatchObject({
      value: { tag: 'err', val: DENIED },
    })
    expect(server.asked).toEqual(['GET /a', 'GET /b'])
  })

  it('is given no more than bytesIn, whether it reads it or not', async () => {
    await using server = await serve()
    await using runtime = await allowing(server)
    for (const [bytesIn, end] of [
      [200_000, { status: 'completed' }],
      [40_000, { status: 'exhausted', limit: 'bytes' }],
    ] as const) {
      const component = await runtime.openComponent(await readSample('http-c'), {
        grants: ['net.fetch'],
        wasi: {},
        cache,
        limits: { bytesIn },
      })
      expect(await component.call('race', [host(server), '/large', '/large'])).toMatchObject(end)
    }
  })

  it('asks more often than it may hold things, and can be parked afterwards', async () => {
    let asked = 0
    const fetch = capability({
      name: 'net.fetch',
      description: 'Answers at once.',
      effect: 'read',
      invoke: () => {
        asked += 1
        return { status: 200, headers: {}, body: '' }
      },
    })
    await using runtime = await openRuntime({ capabilities: [fetch] })
    const component = await open(runtime)
    const paths = Array.from({ length: 600 }, (_, at) => `/${at}`).join('\n')
    expect(await component.call('ask', ['GET', 'example.com', paths, ''])).toMatchObject({
      status: 'completed',
      value: { tag: 'ok' },
    })
    expect(asked).toBe(600)
    expect((await component.checkpoint()).length).toBeGreaterThan(0)
  })

  it('follows redirects itself, and hears of a connection that broke', async () => {
    await using server = await serve()
    await using runtime = await allowing(server)
    const component = await open(runtime)
    expect(await component.call('ask', ['GET', host(server), '/moved', ''])).toMatchObject({
      value: { tag: 'ok', val: '302  ' },
    })
    // `connection-terminated`.
    expect(await component.call('ask', ['GET', host(server), '/cut', ''])).toMatchObject({
      value: { tag: 'err', val: 'failed with 7' },
    })
    expect(server.asked).toEqual(['GET /moved', 'GET /cut'])
  })

  it('goes on with whichever of two answers comes first, and leaves the other', async () => {
    await using server = await serve()
    await using runtime = await allowing(server)
    const component = await open(runtime)
    expect(await component.call('race', [host(server), '/never', '/b'])).toMatchObject({ value: 1 })
    expect(await component.call('race', [host(server), '/a', '/never'])).toMatchObject({ value: 0 })
    expect(await component.call('ask', ['GET', host(server), '/c', ''])).toMatchObject({
      value: { tag: 'ok', val: '200 text/x GET /c a component' },
    })
  })

  it('is stopped while it waits, and not captured with a request under way', async () => {
    await using server = await serve()
    await using runtime = await allowing(server)
    const component = await open(runtime)
    const parked = await component.call('ask', ['GET', host(server), '/a', ''], { stopAtCall: 1 })
    expect(parked).toMatchObject({
      status: 'suspended',
      pending: [{ capability: 'net.fetch', args: { url: `http://${host(server)}/a`, method: 'GET' } }],
    })
    await expect(component.checkpoint()).rejects.toMatchObject({ code: 'unsupported' })
    expect(server.asked).toEqual([])
    expect(await component.goOn()).toMatchObject({ status: 'completed', value: { tag: 'ok' } })
    const controller = new AbortController()
    const waiting = component.call('ask', ['GET', host(server), '/never', ''], { signal: controller.signal })
    while (server.asked.length < 2) await new Promise((resolve) => setTimeout(resolve, 5))
    controller.abort()
    expect(await waiting).toMatchObject({ status: 'failed', error: { code: 'aborted' } })
  })
})
