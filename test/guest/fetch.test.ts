/** `fetch` in a guest: over `net.fetch`, and over nothing else. */
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { CaissonError } from '../../src/base/errors.ts'
import { capability, openRuntime } from '../../src/entry/node.ts'

interface Asked {
  readonly url: string
  readonly method?: string
  readonly body?: Uint8Array
}

/** What the server of these tests was asked. */
const asked: Asked[] = []

const net = capability({
  name: 'net.fetch',
  description: 'A server in this test',
  effect: 'write',
  expose: ['network_denied'],
  invoke: async (value: unknown) => {
    const request = value as Asked
    asked.push(request)
    if (request.url.includes('denied')) throw new CaissonError('network_denied', 'It leads elsewhere.')
    if (request.url.includes('slow')) await new Promise((resolve) => setTimeout(resolve, 50))
    const found = !request.url.includes('missing')
    return {
      ...{ url: request.url, status: found ? 200 : 404, statusText: found ? 'OK' : 'Not Found', ok: found },
      ...{ redirected: false, headers: { 'content-type': 'application/json', 'x-a': '1, 2' } },
      body: new TextEncoder().encode('{"hello":"w\u00f6rld"}'),
    }
  },
})

const runtime = await openRuntime({ capabilities: [net] })
afterAll(() => runtime.close())
beforeEach(() => {
  asked.length = 0
})

async function evaluate(source: string, grants: readonly string[] = ['net.fetch']): Promise<unknown> {
  const outcome = await runtime.run(source, { grants })
  if (outcome.status !== 'completed') throw new Error(JSON.stringify(outcome))
  return outcome.value
}

describe('fetch', () => {
  it('says what to grant where nothing is granted', async () => {
    const source = `[typeof fetch, fetch.length, fetch.name, await fetch('https://a.example').catch((error) => [error.name, error.message])]`
    expect(await evaluate(source, [])).toEqual([
      ...['function', 1, 'fetch'],
      ['TypeError', 'fetch needs the capability net.fetch, which was not granted: grant net.fetch.'],
    ])
  })

  it('gives a Response of what the capability answers', async () => {
    const source = `
      const response = await fetch('https://a.example/x#part'), missing = await fetch(new Request('https://a.example/missing'))
      const immutable = (() => { try { response.headers.set('a', 'b') } catch (error) { return error.name } })()
      return [response instanceof Response, response.type, response.status, response.ok, response.url, response.headers.get('X-A'), await response.json(), response.bodyUsed, immutable, missing.ok, missing.statusText]`
    expect(await evaluate(source)).toEqual([
      ...[
        true,
        'basic',
        200,
        true,
        'https://a.example/x',
        '1, 2',
        { hello: 'w\u00f6rld' },
        true,
        'TypeError',
      ],
      ...[false, 'Not Found'],
    ])
    expect(asked[0]).toEqual({
      ...{ url: 'https://a.example/x#part', method: 'GET', redirect: 'follow', as: 'bytes', headers: {} },
    })
  })

  it('sends method, headers and body', async () => {
    const source = `
      const form = new FormData()
      form.append('a', 'b')
      await fetch('https://a.example/', { method: 'post', body: form, headers: { 'X-B': '1' }, redirect: 'manual', credentials: 'include' })
      await fetch(new Request('https://a.example/', { method: 'PUT', body: 'text' }), { method: 'PATCH' })`
    await evaluate(source)
    expect(asked[0]).toMatchObject({ method: 'POST', redirect: 'manual', headers: { 'x-b': '1' } })
    expect(new TextDecoder().decode(asked[0]?.body)).toContain('name="a"\r\n\r\nb\r\n')
    expect(asked[1]).toMatchObject({ method: 'PATCH', body: new TextEncoder().encode('text') })
  })

  it('rejects with a TypeError whose cause is what the host said', async () => {
    const source = `fetch('https://a.example/denied').catch((error) => [error.name, error.message, error.cause.code])`
    expect(await evaluate(source)).toEqual([
      'TypeError',
      'fetch failed: It leads elsewhere.',
      'network_denied',
    ])
    const refused = `Promise.all([() => fetch(), () => fetch('/x'), () => fetch('https://a.example', { body: 'x' }), () => fetch('https://a.example', { signal: 1 })].map((fn) => fn().catch((error) => error.name)))`
    expect(await evaluate(refused)).toEqual(['TypeError', 'TypeError', 'TypeError', 'TypeError'])
  })

  it('calls what the host installed, whatever a guest put in its place', async () => {
    const source = `
      const forged = () => { throw new Error('forged') }
      net.fetch = forged
      globalThis.net = { fetch: forged }
      for (const name of ['Request', 'Response', 'Headers']) globalThis[name] = forged
      return (await fetch('https://a.example/')).status`
    expect(await evaluate(source)).toBe(200)
    expect(asked).toHaveLength(1)
  })

  it('rejects at once when it is aborted, before or while it waits', async () => {
    const source = `
      const controller = new AbortController()
      const before = await fetch('https://a.example/never', { signal: AbortSignal.abort('early') }).catch((reason) => reason)
      const waiting = fetch(new Request('https://a.example/slow', { signal: controller.signal })).catch((reason) => reason.name)
      controller.abort()
      const late = new AbortController(), { status } = await fetch('https://a.example/', { signal: late.signal })
      late.abort()
      return [before, await waiting, status, await fetch('https://a.example/slow', { signal: AbortSignal.timeout(5) }).catch((reason) => reason.name)]`
    expect(await evaluate(source)).toEqual(['early', 'AbortError', 200, 'TimeoutError'])
    expect(asked.map(({ url }) => url)).not.toContain('https://a.example/never')
  })
})
