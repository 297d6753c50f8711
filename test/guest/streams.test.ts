/**
 * Streams in a guest. web-platform-tests say what the standard asks (docs/conformance.md); here is what they are too old
 * for, what is ours, and what a stream does that is put down in the middle.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRuntime, type Runtime } from '../../src/entry/node.ts'
import { echo } from '../echo-tools.ts'
import { movedOrNot } from './moved-or-not.testkit.ts'

let runtime: Runtime
let elsewhere: Runtime
beforeAll(async () => {
  runtime = await openRuntime({ capabilities: [echo] })
  elsewhere = await openRuntime({ capabilities: [echo] })
})
afterAll(async () => {
  await runtime.close()
  await elsewhere.close()
})

async function evaluate(source: string): Promise<unknown> {
  const outcome = await runtime.run(source)
  if (outcome.status !== 'completed') throw new Error(JSON.stringify(outcome))
  expect(outcome.unhandledRejections).toEqual([])
  return outcome.value
}

/** What a guest writes for itself: all chunks of a stream, and how a promise ends. */
const OWN = `
  const all = async (stream) => { const chunks = []; for await (const chunk of stream) chunks.push(chunk); return chunks }
  const ended = (promise) => promise.then((value) => ['ok', value], (error) => ['failed', error?.name ?? error])
  const pause = () => new Promise((resolve) => setTimeout(resolve, 1))`

describe('ReadableStream', () => {
  it('is read chunk by chunk, asks its source for no more than is wanted, and closes', async () => {
    const source = `${OWN}
      let pulls = 0
      const stream = new ReadableStream({ pull(c) { pulls += 1; if (pulls > 3) c.close(); else c.enqueue(pulls) } }, { highWaterMark: 0 })
      await pause()
      const before = pulls, reader = stream.getReader()
      const first = await reader.read(), locked = stream.locked
      reader.releaseLock()
      return [before, first, pulls, locked, stream.locked, await all(stream), await stream.getReader().closed]`
    expect(await evaluate(source)).toEqual([0, { value: 1, done: false }, 1, true, false, [2, 3], undefined])
  })

  it('is made of what can be iterated, which learns that it is cancelled', async () => {
    const source = `${OWN}
      const told = []
      async function* numbers() { try { yield 1; yield 2; yield 3 } finally { told.push('cleaned up') } }
      for await (const chunk of ReadableStream.from(numbers())) if (chunk === 2) break
      const iterable = { [Symbol.asyncIterator]: () => ({ next: async () => ({ value: 'x', done: false }), return: async (reason) => { told.push(reason); return {} } }) }
      const reader = ReadableStream.from(iterable).getReader()
      const { value } = await reader.read()
      await reader.cancel('enough')
      return [told, value, await all(ReadableStream.from([Promise.resolve(1), 2])), await all(ReadableStream.from('ab')),
        await ended(ReadableStream.from({ [Symbol.iterator]: () => ({ next: () => 1 }) }).getReader().read()),
        [null, {}, 1].map((value) => { try { ReadableStream.from(value) } catch (error) { return error.name } })]`
    expect(await evaluate(source)).toEqual([
      ...[['cleaned up', 'enough'], 'x', [1, 2], ['a', 'b'], ['failed', 'TypeError']],
      ['TypeError', 'TypeError', 'TypeError'],
    ])
  })

  it('fills a buffer of the reader with at least as much as is asked for', async () => {
    const source = `${OWN}
      let next = 1
      const stream = new ReadableStream({ type: 'bytes', pull(c) { c.enqueue(new Uint8Array([next++, next++])); if (next > 9) { c.close(); c.byobRequest?.respond(0) } } })
      const reader = stream.getReader({ mode: 'byob' })
      const first = await reader.read(new Uint8Array(8), { min: 3 })
      const words = await reader.read(new Uint16Array(1), { min: 1 })
      const rest = await reader.read(new Uint8Array(8), { min: 8 })
      return [[...first.value], [...words.value], rest.done, [...rest.value], (await reader.read(new Uint8Array(1))).done,
        await ended(reader.read(new Uint8Array(1), { min: 2 })), await ended(reader.read(new Uint8Array(1), { min: 0 }))]`
    expect(await evaluate(source)).toEqual([
      ...[[1, 2, 3, 4], [0x0605], true, [7, 8, 9, 10]],
      ...[true, ['failed', 'RangeError'], ['failed', 'TypeError']],
    ])
  })

  it('takes buffers whoever gave them, but none that is shared or can be resized', async () => {
    const source = `
      const bytes = new Uint8Array([1, 2, 3]), seen = []
      const stream = new ReadableStream({ type: 'bytes', start(c) {
        c.enqueue(bytes)
        for (const view of [new Uint8Array(new ArrayBuffer(4, { maxByteLength: 8 })), bytes, new Uint8Array(), [1]]) {
          try { c.enqueue(view); seen.push('taken') } catch (error) { seen.push(error.name) }
        }
      } })
      return [bytes.length, seen, [...(await stream.getReader().read()).value]]`
    const refused = 'TypeError'
    expect(await evaluate(source)).toEqual([0, [refused, refused, refused, refused], [1, 2, 3]])
  })

  it('of ours is of bytes: it is read with a buffer or without, and two of it have bytes of their own', async () => {
    const source = `${OWN}
      const blob = new Blob(['hello world'])
      const reader = blob.stream().getReader({ mode: 'byob' })
      const part = await reader.read(new Uint8Array(5))
      const rest = await reader.read(new Uint8Array(100))
      const end = await reader.read(new Uint8Array(1))
      const [one, two] = blob.stream().tee()
      const [[a], [b]] = await Promise.all([all(one), all(two)])
      a[0] = 0
      const [three, four] = blob.stream().tee()
      const byob = await three.getReader({ mode: 'byob' }).read(new Uint8Array(2))
      four.cancel()
      const text = (bytes) => new TextDecoder().decode(bytes)
      return [text(part.value), text(rest.value), end.done, end.value.length, text(b), text(byob.value)]`
    expect(await evaluate(source)).toEqual(['hello', ' world', true, 0, 'hello world', 'he'])
  })
})

describe('piping', () => {
  it('goes through transforms, and text becomes bytes and text again at any cut', async () => {
    const source = `${OWN}
      const doubled = new TransformStream({ transform: (chunk, c) => { c.enqueue(chunk + chunk) }, flush: (c) => c.enqueue('.') })
      const cut = new TransformStream({ transform: (bytes, c) => { for (const byte of bytes) c.enqueue(new Uint8Array([byte])) } })
      const parts = ReadableStream.from(['a\\u00e9', '\\ud83d', '\\ude00'])
      return (await all(parts.pipeThrough(doubled).pipeThrough(new TextEncoderStream()).pipeThrough(cut).pipeThrough(new TextDecoderStream()))).join('')`
    expect(await evaluate(source)).toBe('a\u00e9a\u00e9\ufffd\ud83d\ude00\ufffd.')
  })

  it('is called off by a signal, also by one of logical time', async () => {
    const source = `${OWN}
      const told = []
      const source = () => new ReadableStream({ pull: (c) => pause().then(() => c.enqueue(1)), cancel: (reason) => { told.push(reason?.name ?? reason) } })
      const sink = () => new WritableStream({ abort: (reason) => { told.push(reason?.name ?? reason) } })
      const controller = new AbortController()
      const piped = ended(source().pipeTo(sink(), { signal: controller.signal }))
      await pause()
      controller.abort('stop')
      return [await piped, await ended(source().pipeTo(sink(), { signal: AbortSignal.timeout(20), preventCancel: true })), told]`
    expect(await evaluate(source)).toEqual([
      ['failed', 'stop'],
      ['failed', 'TimeoutError'],
      ['stop', 'stop', 'TimeoutError'],
    ])
  })

  it('writes nothing while the source is still enqueueing', async () => {
    const source = `${OWN}
      let controller, isInside = false, inside = []
      new ReadableStream({ start(c) { controller = c } }, { highWaterMark: 0 }).pipeTo(new WritableStream({ write: () => { inside.push(isInside) } }))
      await pause()
      isInside = true
      controller.enqueue(1)
      isInside = false
      await pause()
      return inside`
    expect(await evaluate(source)).toEqual([false])
  })
})

describe('TransformStream', () => {
  it('lets the transformer know that it is cancelled or aborted, once, and fails as that does', async () => {
    const source = `${OWN}
      const told = []
      const make = (fails) => new TransformStream({ cancel(reason) { told.push(reason); if (fails) throw 'no' }, flush() { told.push('flush') } })
      const one = make(false), two = make(false), three = make(true)
      const ends = [await ended(one.readable.cancel('a')), await ended(two.writable.abort('b'))]
      const closed = ended(three.writable.getWriter().closed)
      return [...ends, await ended(three.readable.cancel('c')), await closed, told]`
    expect(await evaluate(source)).toEqual([
      ...[
        ['ok', undefined],
        ['ok', undefined],
        ['failed', 'no'],
        ['failed', 'no'],
        ['a', 'b', 'c'],
      ],
    ])
  })
})

describe('a TransformStream whose transformer fails it while it is cancelled', () => {
  it('rejects whoever cancelled it and whoever closed it meanwhile', async () => {
    const source = `${OWN}
      let controller
      const stream = new TransformStream({ start(c) { controller = c }, async cancel() { controller.error('why') }, flush() { throw 'never' } })
      const cancelled = ended(stream.readable.cancel('enough')), closed = ended(stream.writable.close())
      let aborted
      const other = new TransformStream({ cancel() { aborted ??= ended(other.writable.abort('stop')) } })
      await pause()
      return [await cancelled, await closed, await ended(other.readable.cancel('enough')), await aborted]`
    expect(await evaluate(source)).toEqual([
      ...[
        ['failed', 'why'],
        ['failed', 'why'],
        ['failed', 'stop'],
        ['failed', 'stop'],
      ],
    ])
  })
})

describe('a guest with streams that is moved', () => {
  /** A reader that waits, a pipe that is under way, a transform that is held up, bytes half read. */
  const BUSY = (wait: string): string => `${OWN}
    const wait = ${wait}
    const pulled = []
    const source = new ReadableStream({ async pull(c) { const n = pulled.push(await wait(pulled.length)); if (n < 6) c.enqueue(n); else c.close() } })
    const written = []
    const [left, right] = source.pipeThrough(new TransformStream({ transform: (n, c) => { c.enqueue(n * 10) } }, undefined, { highWaterMark: 1 })).tee()
    const piped = left.pipeTo(new WritableStream({ write: async (n) => { await wait(n); written.push(n) } }, { highWaterMark: 2 }))
    const held = new TransformStream(), writer = held.writable.getWriter()
    const bytes = new ReadableStream({ type: 'bytes', async pull(c) { const { view } = c.byobRequest; view[0] = await wait(7); c.byobRequest.respond(1) } }).getReader({ mode: 'byob' })
    const pending = bytes.read(new Uint8Array(4), { min: 2 })
    const late = writer.write('late').then(() => written.push('late'))
    await wait(0)
    const rest = all(right)
    const first = await held.readable.getReader().read()
    await Promise.all([piped, late])
    return [await rest, written.sort(), first.value, writer.desiredSize, [...(await pending).value], pulled.length]`
  const VALUE = [[10, 20, 30, 40, 50], [10, 20, 30, 40, 50, 'late'], 'late', 1, [7, 7], 6]

  it('notices nothing, while it waits for a timer', () => {
    const ends = movedOrNot(BUSY('async (n) => n').replace('await wait(0)', 'await pause()'))
    expect(ends[0]).toMatchObject({ status: 'completed', value: VALUE })
    expect(ends[1]).toEqual(ends[0])
  })

  it('goes on elsewhere from every other of its calls', async () => {
    const grants = ['tools.echo']
    const source = BUSY('(n) => tools.echo(n)')
    const straight = await runtime.run(source, { grants })
    expect(straight).toMatchObject({ status: 'completed', value: VALUE })
    let guest = await runtime.start(source, { grants })
    for (let calls = 0; guest.outcome === undefined; calls += 1) {
      if (calls % 2 === 0) {
        const bytes = await guest.checkpoint()
        guest.dispose()
        guest = await (calls % 4 === 0 ? elsewhere : runtime).restore(bytes, { grants })
      }
      await guest.invoke(guest.pending[0]?.id ?? 0)
    }
    expect(guest.outcome).toMatchObject({ status: 'completed', value: VALUE })
    guest.dispose()
  })
})
