/**
 * Attacks on the streams of a guest's library: what a guest puts on promises, arrays and objects is neither asked nor
 * told anything, and a guest that hoards chunks reaches its own limit.
 */
import { afterAll, describe, expect, it } from 'vitest'
import { openRuntime } from '../../src/entry/node.ts'
import { echo } from '../echo-tools.ts'

const runtime = await openRuntime({ capabilities: [echo] })
afterAll(() => runtime.close())

async function evaluate(source: string): Promise<unknown> {
  const outcome = await runtime.run(source, { grants: ['tools.echo'] })
  if (outcome.status !== 'completed') throw new Error(JSON.stringify(outcome))
  return outcome.value
}

/** Every kind of stream, from source to sink: what it came to is in `value`. */
const WORK = `
  const work = async () => {
    let i = 0, out = ''
    const source = new Readable({ pull(c) { i += 1; if (i > 3) c.close(); else c.enqueue(i) } })
    const doubled = source.pipeThrough(new Transform({ transform(n, c) { c.enqueue(n * 2) } }))
    const both = doubled.tee(), left = both[0], right = both[1]
    const piped = left.pipeTo(new Writable({ write(n) { out += n } }))
    for await (const n of right) out += 'r' + n
    await piped
    const bytes = new Readable({ type: 'bytes', pull(c) { const view = c.byobRequest.view; view[0] = 9; c.byobRequest.respond(1) } })
    const reader = bytes.getReader({ mode: 'byob' }), read = await reader.read(new Bytes(2))
    await reader.cancel('x')
    const failed = new Readable({ start(c) { c.error('why') } }).getReader()
    let why = ''
    try { await failed.read() } catch (error) { why = error }
    return { value: out.length + ':' + read.value[0] + why }
  }`
const VALUE = '9:9why'

describe('a guest that lies in wait for its streams', () => {
  it('sees nothing of their inside in promises, arrays and objects', async () => {
    const source = `
      const Readable = ReadableStream, Transform = TransformStream, Writable = WritableStream, Bytes = Uint8Array
      ${WORK}
      // Whatever is evaluated when it is touched is.
      await work()
      const { then } = Promise.prototype, { apply, ownKeys } = Reflect, { getOwnPropertyDescriptor, defineProperty } = Object
      const seen = new Set(), add = seen.add.bind(seen)
      const note = (value) => { if (typeof value === 'object' && value !== null) add(value) }
      // Every name that a state has, and some that it has not: whoever looks one up in vain would be seen.
      const names = ['then', 'queue', 'reader', 'writer', 'requests', 'stream', 'closed', 'ready', 'first', 'last', 'next', 'value', 'size', 'total', 'mark', 'bytes', 'pulls', 'request',
        'error', 'state', 'started', 'closing', 'toClose', 'toAbort', 'written', 'writes', 'signal', 'aborted', 'isSettled', 'promise', 'resolve', 'reject', 'facade', 'cancel', 'pull', 'start', 'type',
        'give', 'fail', 'finish', 'changed', 'transform', 'flush', 'highWaterMark', 'mode', 'min', 'preventAbort', 'preventCancel', 'preventClose', 'cancelled', 'again', 'reason', 'ongoing', 'isFinished', 'filled', 'least', 'reader', 'autoAllocate', 'isOfBytes']
      for (let i = 0; i < names.length; i += 1) {
        const name = names[i]
        defineProperty(Object.prototype, name, { __proto__: null, configurable: true, get() { note(this) }, set(value) { note(this); note(value); defineProperty(this, name, { __proto__: null, value, writable: true, configurable: true, enumerable: true }) } })
      }
      for (let i = 0; i < 5; i += 1) defineProperty(Array.prototype, i, { __proto__: null, configurable: true, get() { note(this) }, set(value) { note(this); note(value) } })
      Promise.prototype.then = function (...args) { note(this); return apply(then, this, args) }
      for (const prototype of [Map.prototype, Set.prototype, WeakMap.prototype, Function.prototype]) for (const name of ownKeys(prototype)) {
        const old = getOwnPropertyDescriptor(prototype, name).value
        if (typeof old === 'function' && name !== 'constructor' && typeof name === 'string') prototype[name] = function (...args) { note(this); for (let i = 0; i < args.length; i += 1) note(args[i]); return apply(old, this, args) }
      }
      const result = await work()
      for (let i = 0; i < names.length; i += 1) delete Object.prototype[names[i]]
      for (let i = 0; i < 5; i += 1) delete Array.prototype[i]
      const inside = ['promise', 'requests', 'queue', 'facade', 'pulls', 'writes', 'stream', 'first', 'next', 'size', 'give', 'bufferLength'], leaks = []
      seen.forEach((one) => { for (const key of inside) if (getOwnPropertyDescriptor(one, key)) { leaks.push(ownKeys(one).join()); break } })
      return [result.value, leaks]`
    expect(await evaluate(source)).toEqual([VALUE, []])
  })

  it('breaks none of them by what it overwrote before it touched the first', async () => {
    const source = `
      const forged = function () { throw new RangeError('forged') }
      for (const name of ['then', 'catch', 'finally']) Promise.prototype[name] = forged
      for (const name of ['resolve', 'reject', 'withResolvers', 'all']) Promise[name] = forged
      for (const name of ['push', 'shift', 'slice', 'map', 'forEach']) Array.prototype[name] = forged
      for (const name of ['bind', 'call', 'apply']) Function.prototype[name] = forged
      Reflect.apply = forged
      const Readable = ReadableStream, Transform = TransformStream, Writable = WritableStream, Bytes = Uint8Array
      globalThis.Promise = forged
      ${WORK}
      const result = await work()
      return [result.value, (await tools.echo('asked'))]`
    expect(await evaluate(source)).toEqual([VALUE, 'asked'])
  })

  it('makes no controller of its own, and gets no state from what it puts in place of one', async () => {
    const source = `
      let key
      const classes = [ReadableStreamDefaultController, ReadableByteStreamController, ReadableStreamBYOBRequest, WritableStreamDefaultController, TransformStreamDefaultController]
      const refused = classes.map((Class) => [undefined, {}, new ReadableStream()].map((key) => { try { new Class(key, {}); return 'made' } catch (error) { return error.name } }).join())
      const methods = [() => ReadableStream.prototype.getReader.call({}), () => ReadableStreamDefaultReader.prototype.releaseLock.call(new WritableStream()), () => new ReadableStreamDefaultReader({}), () => WritableStream.prototype.getWriter.call(null), () => new ReadableStream().pipeThrough({})]
      return [refused, methods.map((fn) => { try { fn(); return 'done' } catch (error) { return error.name } }), await ReadableStream.prototype.pipeTo.call({}).catch((error) => error.name)]`
    const refused = 'TypeError,TypeError,TypeError'
    expect(await evaluate(source)).toEqual([
      [refused, refused, refused, refused, refused],
      ['TypeError', 'TypeError', 'TypeError', 'TypeError', 'TypeError'],
      'TypeError',
    ])
  })
})

describe('a guest that hoards chunks', () => {
  it.each([
    [
      'a source that enqueues for ever',
      'new ReadableStream({ start(c) { for (;;) c.enqueue(new Uint8Array(100_000)) } })',
    ],
    [
      'a branch that nobody reads',
      'for await (const _ of new ReadableStream({ pull(c) { c.enqueue(new Uint8Array(100_000)) } }).tee()[0]);',
    ],
    [
      'a sink that never writes',
      'const writer = new WritableStream({ write: () => new Promise(() => {}) }).getWriter(); for (;;) writer.write(new Uint8Array(100_000))',
    ],
  ])('reaches its own cap of memory: %s', async (_, source) => {
    const limits = { memoryBytes: 16 * 1024 * 1024, fuel: 2 ** 52 }
    expect(await runtime.run(source, { limits })).toMatchObject({ status: 'exhausted', limit: 'memory' })
  })

  it('reaches its fuel, when its chunks never end', async () => {
    const source = `await new ReadableStream({ pull(c) { c.enqueue(1) } }).pipeThrough(new TransformStream()).pipeTo(new WritableStream())`
    expect(await runtime.run(source, { limits: { fuel: 200_000_000 } })).toMatchObject({
      status: 'exhausted',
      limit: 'fuel',
    })
  })
})
