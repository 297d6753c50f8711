/** `fetch` in a guest over the real binding, from a real server: bodies that are read while they are written. */
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import type { TestHandler } from '../../host-bindings/fetch/http-server.testkit.ts'
import { closeNets, openNet } from './streamed-bodies.testkit.ts'

afterEach(closeNets)

/** Runs `source` against a server, with its origin as `input`. */
async function evaluate(handler: TestHandler, source: string, options: object = {}): Promise<unknown> {
  const { runtime, origin } = await openNet(handler, options)
  const outcome = await runtime.run(source, { input: origin, grants: ['net.fetch', 'test.tell'] })
  if (outcome.status !== 'completed') throw new Error(JSON.stringify(outcome))
  return outcome.value
}

const READ_ALL = `
  const decoder = new TextDecoder()
  const read = async (body) => { let text = ''; for await (const chunk of body) text += decoder.decode(chunk, { stream: true }); return text }`

describe('a streamed answer', () => {
  it('is read event by event while the server waits for what the guest does with it', async () => {
    let stream: ServerResponse | undefined
    const { runtime, origin } = await openNet(
      (_request, response) => {
        stream = response
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write('data: 1\n\n')
      },
      {},
      (what) => {
        // The next event is written when the guest has seen the one before: nothing is there whole.
        if (what === 3) stream?.end()
        else stream?.write(`data: ${Number(what) + 1}\n\n`)
      },
    )
    const source = `
      const response = await fetch(input)
      const events = []
      const decoder = new TextDecoder()
      for await (const chunk of response.body) {
        const [, number] = /data: (\\d+)/.exec(decoder.decode(chunk))
        events.push(Number(number))
        await test.tell(Number(number))
      }
      return [response.status, response.headers.get('content-type'), events, response.bodyUsed]`
    const outcome = await runtime.run(source, { input: origin, grants: ['net.fetch', 'test.tell'] })
    expect(outcome).toMatchObject({
      status: 'completed',
      value: [200, 'text/event-stream', [1, 2, 3], true],
    })
  })

  it('takes one call for its head and one for the whole of its body', async () => {
    const { runtime, origin } = await openNet((_request, response) => {
      response.write('{"a":')
      setTimeout(() => response.end('[1,2]}'), 20)
    })
    const source = 'const response = await fetch(input); return [await response.json(), response.bodyUsed]'
    const outcome = await runtime.run(source, { input: origin, grants: ['net.fetch'] })
    expect(outcome).toMatchObject({ status: 'completed', value: [{ a: [1, 2] }, true], usage: { calls: 2 } })
  })

  it('is whole without a second capability, and in one call where there is no body', async () => {
    const { net, origin } = await openNet((request, response) => {
      if (request.url === '/none') response.writeHead(204)
      response.end(request.url === '/none' ? undefined : 'whole')
    })
    const { openRuntime } = await import('../../src/entry/node.ts')
    await using alone = await openRuntime({ capabilities: net.filter(({ name }) => name === 'net.fetch') })
    const source = `
      const response = await fetch(input), none = await fetch(input + '/none')
      const reader = response.body.getReader()
      const { value } = await reader.read()
      return [typeof net.readBody, new TextDecoder().decode(value), (await reader.read()).done, none.body, await none.text()]`
    const outcome = await alone.run(source, { input: origin, grants: ['net.fetch'] })
    expect(outcome).toMatchObject({
      value: ['undefined', 'whole', true, null, ''],
      usage: { calls: 2 },
    })
  })

  it('is inflated, and read to the last byte', async () => {
    const text = Array.from({ length: 30_000 }, (_, i) => `line ${i}\n`).join('')
    const source = `${READ_ALL}
      const response = await fetch(input)
      const text = await read(response.body)
      return [text.length, text.slice(-11)]`
    const handler: TestHandler = (_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text))
    }
    expect(await evaluate(handler, source)).toEqual([text.length, 'line 29999\n'])
  })

  it.each([
    ['breaks off', 'network_failed', { maxResponseBytes: 1_000 }],
    ['is larger than the grant allows', 'result_too_large', { maxResponseBytes: 10 }],
  ])('that %s gives what came before, and says so then', async (_what, code, options) => {
    const handler: TestHandler = (_request, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('0123456789', () => {
        setTimeout(() => (options.maxResponseBytes === 10 ? response.write('x') : response.destroy()), 20)
      })
    }
    const source = `${READ_ALL}
      const reader = (await fetch(input)).body.getReader()
      const { value } = await reader.read()
      const failed = await reader.read().catch((error) => [error.name, error.cause.code])
      const whole = await (await fetch(input)).text().catch((error) => [error.name, error.cause.code])
      return [new TextDecoder().decode(value), failed, whole]`
    const failure = ['TypeError', code]
    expect(await evaluate(handler, source, options)).toEqual(['0123456789', failure, failure])
  })

  it('is closed at the server when it is cancelled, aborted or left behind', async () => {
    const closed: string[] = []
    const { runtime, origin } = await openNet((request, response) => {
      response.on('close', () => closed.push(String(request.url)))
      response.write('begun')
    })
    const source = `
      const cancelled = await fetch(input + '/cancelled')
      await cancelled.body.cancel()
      const controller = new AbortController()
      const aborted = await fetch(input + '/aborted', { signal: controller.signal })
      const reading = aborted.text().catch((reason) => reason)
      const reader = (await fetch(input + '/reader', { signal: controller.signal })).body.getReader()
      await reader.read()
      const next = reader.read().catch((reason) => reason)
      const idle = (await fetch(input + '/idle', { signal: controller.signal })).body.getReader()
      const late = await fetch(input + '/late', { signal: controller.signal })
      controller.abort('enough')
      await fetch(input + '/left')
      const closed = [reader, idle, late.body.getReader()].map((one) => one.closed.catch((reason) => reason))
      return [await reading, await next, await reader.read().catch((reason) => reason), ...(await Promise.all(closed))]`
    const outcome = await runtime.run(source, { input: origin, grants: ['net.fetch'] })
    expect(outcome).toMatchObject({ status: 'completed', value: Array(6).fill('enough') })
    while (closed.length < 6) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(closed.sort()).toEqual(['/aborted', '/cancelled', '/idle', '/late', '/left', '/reader'])
  })

  it('is the same in a clone, and read once', async () => {
    const source = `${READ_ALL}
      const response = await fetch(input), copy = response.clone()
      const [one, two] = await Promise.all([read(copy.body), response.text()])
      const again = await response.text().catch((error) => error.name)
      return [one, two, again, response.bodyUsed, copy.bodyUsed]`
    const writing: TestHandler = (_request, response) => {
      response.write('first,')
      setTimeout(() => response.end('second'), 20)
    }
    expect(await evaluate(writing, source)).toEqual([
      ...['first,second', 'first,second', 'TypeError', true, true],
    ])
  })

  it('comes whole where too many are open, and none is lost', async () => {
    const { runtime, origin } = await openNet(
      (request, response) => {
        response.write('a')
        setTimeout(() => response.end(String(request.url)), 10)
      },
      { maxOpenBodies: 2 },
    )
    const source = `
      const responses = await Promise.all(Array.from({ length: 20 }, (_, i) => fetch(input + '/' + i)))
      return Promise.all(responses.map((response) => response.text()))`
    const outcome = await runtime.run(source, { input: origin, grants: ['net.fetch'] })
    expect(outcome).toMatchObject({ value: Array.from({ length: 20 }, (_, i) => `a/${i}`) })
    // Two in two calls, all others in one.
    expect(outcome.usage.calls).toBe(22)
  })

  it('a stream is sent whole as the body of a request', async () => {
    const handler: TestHandler = async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      response.end(`${request.headers['content-length']} ${Buffer.concat(chunks)}`)
    }
    const source = `
      let sent = 0
      const body = new ReadableStream({ pull(controller) { sent += 1; if (sent > 3) controller.close(); else controller.enqueue(new TextEncoder().encode('part ' + sent + ';')) } })
      const request = new Request(input, { method: 'POST', body, duplex: 'half' })
      return (await fetch(request)).text()`
    expect(await evaluate(handler, source, { methods: ['POST'] })).toBe('21 part 1;part 2;part 3;')
  })
})
