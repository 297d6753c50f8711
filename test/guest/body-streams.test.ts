/** Bodies and blobs as streams, where no host has anything to do with them. */
import { afterAll, describe, expect, it } from 'vitest'
import { openRuntime } from '../../src/entry/node.ts'
import { movedOrNot } from './moved-or-not.testkit.ts'

const runtime = await openRuntime()
afterAll(() => runtime.close())

async function evaluate(source: string): Promise<unknown> {
  const outcome = await runtime.run(source)
  if (outcome.status !== 'completed') throw new Error(JSON.stringify(outcome))
  return outcome.value
}

const HELPERS = `
  const bytes = (text) => new TextEncoder().encode(text)
  const streamOf = (...parts) => new ReadableStream({ start(controller) { for (const part of parts) controller.enqueue(typeof part === 'string' ? bytes(part) : part); controller.close() } })
  const textOf = async (stream) => { const decoder = new TextDecoder(); let text = ''; for await (const part of stream) text += decoder.decode(part, { stream: true }); return text }
  const nameOf = (work) => { try { return work() } catch (error) { return error.name } }
  const failed = (promise) => promise.then(() => 'fine', (error) => error.name)`

describe('the body of a message', () => {
  it('is null, or one stream of its bytes that is made when it is asked for', async () => {
    const source = `${HELPERS}
      const response = new Response('hällo'), request = new Request('https://a.example', { method: 'POST', body: bytes('abc') })
      const { body } = response
      return [new Response().body, new Request('https://a.example').body, body instanceof ReadableStream, body === response.body, response.bodyUsed,
        await textOf(body), response.bodyUsed, await textOf(request.body), new Response('').body instanceof ReadableStream, await textOf(new Response('').body)]`
    expect(await evaluate(source)).toEqual([
      ...[null, null, true, true, false, 'hällo', true, 'abc', true, ''],
    ])
  })

  it('is a stream that a guest gives, read by every method', async () => {
    const source = `${HELPERS}
      const of = (type) => new Response(streamOf('{"a"', ':1}'), { headers: { 'content-type': type } })
      const form = await new Response(streamOf('a=1&', 'b=2'), { headers: { 'content-type': 'application/x-www-form-urlencoded' } }).formData()
      const blob = await of('text/plain').blob(), given = streamOf('x')
      return [new Response(given).body === given, new Response(given).headers.get('content-type'), await of('').text(), await of('').json(), [...await of('').bytes()].length,
        (await of('').arrayBuffer()).byteLength, [blob.size, blob.type], [...form]]`
    expect(await evaluate(source)).toEqual([
      ...[
        true,
        null,
        '{"a":1}',
        { a: 1 },
        7,
        7,
        [7, 'text/plain'],
        [
          ['a', '1'],
          ['b', '2'],
        ],
      ],
    ])
  })

  it('is used by whoever reads it, and read once', async () => {
    const source = `${HELPERS}
      const read = new Response('a'), locked = new Response('a'), disturbed = new Response(streamOf('a')), cancelled = new Response('a')
      await read.text()
      const reader = locked.body.getReader(), other = disturbed.body.getReader()
      await other.read()
      other.releaseLock()
      await cancelled.body.cancel()
      const all = [read, locked, disturbed, cancelled]
      const before = [all.map(({ bodyUsed }) => bodyUsed), await Promise.all(all.map((one) => failed(one.text()))), all.map((one) => nameOf(() => one.clone()))]
      reader.releaseLock()
      return [...before, await locked.text(), read.body.locked, await failed(textOf(read.body))]`
    const type = 'TypeError'
    expect(await evaluate(source)).toEqual([
      [true, false, true, true],
      [type, type, type, type],
      [type, type, type, type],
      'a',
      true,
      type,
    ])
  })

  it('is shared with a clone: bytes as they are, streams by a tee', async () => {
    const source = `${HELPERS}
      const response = new Response(streamOf('a', 'b')), copy = response.clone(), again = copy.clone()
      const request = new Request('https://a.example', { method: 'POST', body: streamOf('c', 'd'), duplex: 'half' }), other = request.clone()
      const plain = new Response('e'), twin = plain.clone()
      return [await response.text(), await again.text(), await textOf(copy.body), await other.text(), await textOf(request.body), await twin.text(), plain.bodyUsed, await textOf(plain.body)]`
    expect(await evaluate(source)).toEqual(['ab', 'ab', 'ab', 'cd', 'cd', 'e', false, 'e'])
  })

  it('of a request goes to the request that is made of it', async () => {
    const source = `${HELPERS}
      const made = (body) => new Request('https://a.example', { method: 'POST', body, duplex: 'half' })
      const all = []
      for (const body of ['text', streamOf('str', 'eam')]) {
        const first = made(body), second = new Request(first)
        all.push(first.bodyUsed, second.bodyUsed, nameOf(() => new Request(first)), await second.text(), second.bodyUsed)
      }
      const locked = made(streamOf('x'))
      locked.body.getReader()
      return [...all, nameOf(() => new Request(locked))]`
    expect(await evaluate(source)).toEqual([
      ...[true, false, 'TypeError', 'text', true],
      ...[true, false, 'TypeError', 'stream', true],
      'TypeError',
    ])
  })

  it('takes no stream that was begun, that has a reader, or that is sent before it was said', async () => {
    const source = `${HELPERS}
      const locked = streamOf('a'), begun = streamOf('a')
      locked.getReader()
      const reader = begun.getReader()
      await reader.read()
      reader.releaseLock()
      const request = (init) => nameOf(() => new Request('https://a.example', { method: 'POST', ...init }).method)
      return [nameOf(() => new Response(locked)), nameOf(() => new Response(begun)), request({ body: streamOf('a') }), request({ body: streamOf('a'), duplex: 'full' }),
        request({ duplex: 'full' }), request({ body: streamOf('a'), duplex: 'half' }), request({ body: 'a' })]`
    const type = 'TypeError'
    expect(await evaluate(source)).toEqual([type, type, type, type, type, 'POST', 'POST'])
  })

  it('fails with what the stream fails with, and for chunks that are no bytes', async () => {
    const source = `${HELPERS}
      const broken = () => new ReadableStream({ pull() { throw new RangeError('broken') } })
      return [await failed(new Response(broken()).text()), await failed(new Response(new ReadableStream({ start(c) { c.enqueue('text'); c.close() } })).text()),
        await failed(new Response(broken()).clone().json())]`
    expect(await evaluate(source)).toEqual(['RangeError', 'TypeError', 'RangeError'])
  })

  it('is read as it was, whatever a guest puts in the place of what reads it', async () => {
    const source = `${HELPERS}
      const response = new Response('kept'), made = new Response(streamOf('ke', 'pt')), { body } = new Response('kept')
      const text = Response.prototype.text
      ReadableStream.prototype.getReader = ReadableStream.prototype.tee = () => { throw new Error('forged') }
      globalThis.ReadableStream = undefined
      return [await text.call(response), await text.call(made.clone()), await text.call(made), body.locked]`
    expect(await evaluate(source)).toEqual(['kept', 'kept', 'kept', false])
  })
})

describe('a blob', () => {
  it('is a stream of its bytes, as often as it is asked for', async () => {
    const source = `${HELPERS}
      const blob = new Blob(['a'.repeat(70_000), 'end'])
      const sizes = []
      for await (const part of blob.stream()) sizes.push(part.length)
      const [first] = [await blob.stream().getReader().read()]
      first.value.fill(0)
      return [sizes, (await blob.text()).slice(-4), await textOf(blob.slice(-3).stream()), await textOf(new Blob().stream())]`
    expect(await evaluate(source)).toEqual([[65_536, 4_467], 'aend', 'end', ''])
  })
})

describe('a guest that is moved while it reads', () => {
  it('goes on as if it had not been', () => {
    const [stayed, moved] = movedOrNot(`${HELPERS}
      const response = new Response(new ReadableStream({ pull(controller) { this.n = (this.n ?? 0) + 1; if (this.n > 4) controller.close(); else controller.enqueue(bytes('part ' + this.n + ';')) } }))
      const copy = response.clone(), reader = response.body.getReader(), other = copy.body.getReader()
      const first = [await reader.read(), await reader.read(), await other.read()].map(({ value }) => new TextDecoder().decode(value))
      const piped = new Blob(['blob']).stream().getReader()
      await new Promise((resolve) => setTimeout(resolve, 5))
      reader.releaseLock()
      other.releaseLock()
      return [first, await textOf(response.body), await textOf(copy.body), response.bodyUsed, (await piped.read()).value.length]`)
    expect(stayed).toMatchObject({
      status: 'completed',
      value: [['part 1;', 'part 2;', 'part 1;'], 'part 3;part 4;', 'part 2;part 3;part 4;', true, 4],
    })
    expect(moved).toEqual(stayed)
  })
})
