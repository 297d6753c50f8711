/**
 * `ReadableStream` of the Streams standard, with the reader and the controller of any chunks. What most programs do
 * not use of it (bytes, piping, tee, iteration) is in units of its own.
 *
 * Invariants
 * 1. No guest code gets a state: only public objects, which hold theirs in private fields.
 * 2. What happens inside never looks at a public object, at `then`, or at anything that a guest can put on a class or
 *    prototype; it calls only what the guest gave to be called.
 */
import { dictionary } from '../arguments.ts'
import type { ByteStreams } from '../byte-parts.ts'
import type { Unit } from '../host.ts'
import type { StreamExports } from '../stream-exports.ts'
import type {
  Algorithm,
  Chain,
  Controller,
  Readable,
  Readables,
  Reader,
  ReadRequest,
  StreamCore,
} from '../stream-parts.ts'
import type { StreamBodies } from './stream-bodies.ts'
import type { StreamIteration } from './stream-iteration.ts'
import type { StreamPipes } from './stream-pipes.ts'
import type { StreamTee } from './stream-tee.ts'

const unit: Unit<StreamExports & Record<string, unknown>> = ({ primordials, use }) => {
  const { rejected, resolved, after } = primordials
  const core = use('stream-core') as unknown as StreamCore
  const { algorithmOf, chain, defer, markOf, methodOf, OURS, promised, refuse, requireOurs } = core
  let readableOf!: (stream: unknown) => Readable
  let isStream!: (value: unknown) => boolean

  class ReadableStream {
    readonly #stream: Readable

    constructor(source: unknown = undefined, strategy: unknown = undefined) {
      if (source === OURS) {
        this.#stream = strategy as Readable
        return
      }
      const given = core.sourceOf(source)
      const measured = core.strategyOf(strategy)
      const { autoAllocateChunkSize } = given
      const cancel = algorithmOf(given, 'cancel')
      const pull = algorithmOf(given, 'pull')
      const start = methodOf(given, 'start')
      const { type } = given
      if (type !== undefined && `${type as string}` !== 'bytes') {
        throw new TypeError('The type of a ReadableStream is "bytes", if any.')
      }
      const stream = createState(type !== undefined)
      this.#stream = stream
      stream.facade = this
      let facade: object
      if (stream.bytes) {
        facade = bytes().control(stream, measured, { autoAllocateChunkSize, cancel, pull })
      } else {
        const { size } = measured
        const mark = markOf(measured, 1)
        const controller = createController(stream, { cancel, pull, mark, size })
        facade = new ReadableStreamDefaultController(OURS, controller)
        controller.pull = () => pull(facade)
      }
      begin(stream.controller, start?.(facade))
    }

    static from(iterable: unknown): object {
      return iteration().from(iterable)
    }

    get locked(): boolean {
      return isLocked(this.#stream)
    }

    cancel(reason: unknown = undefined): Promise<unknown> {
      return promised(() => {
        const stream = this.#stream
        if (isLocked(stream)) throw new TypeError('The stream is locked: cancel its reader.')
        return cancel(stream, reason)
      })
    }

    getReader(options: unknown = undefined): object {
      const stream = this.#stream
      const { mode } = dictionary(options, 'ReadableStream.getReader')
      if (mode === undefined) return new ReadableStreamDefaultReader(this)
      if (`${mode as string}` !== 'byob') throw new TypeError('The mode of a reader is "byob", if any.')
      return bytes().readerOf(stream)
    }

    pipeThrough(transform: unknown, options: unknown = undefined): unknown {
      return pipes().pipeThrough(this.#stream, transform, options)
    }

    pipeTo(destination: unknown, options: unknown = undefined): Promise<unknown> {
      return promised(() => pipes().pipeTo(this.#stream, destination, options))
    }

    tee(): readonly [object, object] {
      return tees().tee(this.#stream)
    }

    values(options: unknown = undefined): object {
      return iteration().values(this.#stream, options)
    }

    static {
      readableOf = (stream) => {
        if (isStream(stream)) return (stream as ReadableStream).#stream
        throw new TypeError('It takes a ReadableStream.')
      }
      isStream = (value) => typeof value === 'object' && value !== null && #stream in value
    }
  }
  Object.defineProperty(ReadableStream.prototype, Symbol.asyncIterator, {
    value: ReadableStream.prototype.values,
    writable: true,
    configurable: true,
  })

  class ReadableStreamDefaultReader {
    readonly #reader: Reader

    constructor(stream: unknown) {
      this.#reader = acquire(readableOf(stream))
    }

    get closed(): Promise<unknown> {
      return promised(() => this.#reader.closed.promise)
    }

    cancel(reason: unknown = undefined): Promise<unknown> {
      return promised(() => cancel(requireStream(this.#reader), reason))
    }

    read(): Promise<unknown> {
      return promised(() => {
        const result = defer()
        read(this.#reader, {
          chunk: (value) => result.resolve({ value, done: false }),
          close: () => result.resolve({ value: undefined, done: true }),
          error: (reason) => result.reject(reason),
        })
        return result.promise
      })
    }

    releaseLock(): void {
      release(this.#reader)
    }
  }

  class ReadableStreamDefaultController {
    readonly #controller: Controller

    constructor(key: unknown, controller: Controller) {
      requireOurs(key)
      this.#controller = controller
    }

    get desiredSize(): number | null {
      return desiredSize(this.#controller)
    }

    close(): void {
      requireOpen(this.#controller)
      this.#controller.close()
    }

    enqueue(chunk: unknown = undefined): void {
      requireOpen(this.#controller)
      this.#controller.enqueue(chunk as never)
    }

    error(reason: unknown = undefined): void {
      fail(this.#controller, reason)
    }
  }

  const bytes = (): ByteStreams => use('byte-streams') as unknown as ByteStreams
  const pipes = (): StreamPipes => use('stream-pipes') as unknown as StreamPipes
  const tees = (): StreamTee => use('stream-tee') as unknown as StreamTee
  const iteration = (): StreamIteration => use('stream-iteration') as unknown as StreamIteration
  const bodies = (): StreamBodies => use('stream-bodies') as unknown as StreamBodies

  function createState(isOfBytes: boolean): Readable {
    return {
      state: 'readable',
      error: undefined,
      disturbed: false,
      reader: undefined,
      controller: undefined as never,
      bytes: isOfBytes,
      facade: undefined as never,
    }
  }

  const createReadable: Readables['createReadable'] = ({ start, bytes: isOfBytes, ...parts }) => {
    const stream = createState(isOfBytes)
    stream.facade = new ReadableStream(OURS, stream)
    begin(createController(stream, parts), start)
    return stream
  }

  /** The controller of chunks of any kind. */
  const createController: Readables['createController'] = (
    stream,
    { pull, cancel: stopSource, mark, size },
  ) => {
    const controller: Controller = {
      stream,
      queue: chain(),
      mark,
      started: false,
      closing: false,
      pulling: false,
      again: false,
      pull,
      cancel: stopSource,
      size: size ?? (() => 1),
      take(request) {
        const { queue } = controller
        if (queue.length > 0) {
          const chunk = queue.shift()
          if (controller.closing && queue.length === 0) end(controller)
          else pullIfNeeded(controller)
          request.chunk(chunk)
        } else {
          ;(stream.reader as Reader).requests.push(request)
          pullIfNeeded(controller)
        }
      },
      release: () => {},
      forget: () => {},
      finish: () => controller.close(),
      bytes: undefined,
      enqueue(chunk: unknown) {
        if (!canEnqueue(controller)) return
        if (asked(stream)) (stream.reader as Reader).requests.shift().chunk(chunk)
        else {
          try {
            controller.queue.push(chunk, controller.size(chunk))
          } catch (error) {
            fail(controller, error)
            throw error
          }
        }
        pullIfNeeded(controller)
      },
      close() {
        if (!canEnqueue(controller)) return
        controller.closing = true
        if (controller.queue.length === 0) end(controller)
      },
    }
    stream.controller = controller
    return controller
  }

  function begin(controller: Controller, started: unknown): void {
    after(
      resolved(started),
      () => {
        controller.started = true
        pullIfNeeded(controller)
      },
      (error) => fail(controller, error),
    )
  }

  const nothing: Algorithm = () => resolved()

  const isLocked = ({ reader }: Readable): boolean => reader !== undefined

  /** Whether somebody waits for a chunk. */
  const asked = ({ reader }: Readable): boolean => reader !== undefined && reader.requests.length > 0

  const canEnqueue = ({ closing, stream }: Controller): boolean => !closing && stream.state === 'readable'

  function requireOpen(controller: Controller): void {
    if (!canEnqueue(controller))
      throw new TypeError('The stream is closed, or was asked to close, or failed.')
  }

  function desiredSize({ mark, queue, stream: { state } }: Controller): number | null {
    if (state === 'readable') return mark - queue.total
    return state === 'closed' ? 0 : null
  }

  const shouldPull = (controller: Controller): boolean =>
    canEnqueue(controller) &&
    controller.started &&
    (asked(controller.stream) || (desiredSize(controller) as number) > 0)

  function pullIfNeeded(controller: Controller): void {
    if (!shouldPull(controller)) return
    if (controller.pulling) {
      controller.again = true
      return
    }
    controller.pulling = true
    after(
      controller.pull(),
      () => {
        controller.pulling = false
        if (!controller.again) return
        controller.again = false
        pullIfNeeded(controller)
      },
      (error) => fail(controller, error),
    )
  }

  function stop(controller: Controller): void {
    controller.pull = controller.cancel = nothing
    controller.size = () => 1
  }

  function end(controller: Controller): void {
    stop(controller)
    closeStream(controller.stream)
  }

  function fail(controller: Controller, reason: unknown): void {
    const { stream } = controller
    if (stream.state !== 'readable') return
    controller.forget()
    controller.queue = chain()
    stop(controller)
    stream.state = 'errored'
    stream.error = reason
    const { reader } = stream
    if (!reader) return
    reader.closed = refuse(reader.closed, reason)
    refuseRequests(reader, reason)
  }

  function closeStream(stream: Readable): void {
    stream.state = 'closed'
    const { reader } = stream
    if (!reader) return
    reader.closed.resolve()
    if (!reader.byob) closeRequests(reader)
  }

  /** Requests that come while these are answered are no longer theirs. */
  function takeRequests(reader: Reader): Chain<ReadRequest> {
    const { requests } = reader
    reader.requests = chain()
    return requests
  }

  function closeRequests(reader: Reader): void {
    const requests = takeRequests(reader)
    while (requests.length > 0) requests.shift().close()
  }

  function refuseRequests(reader: Reader, reason: unknown): void {
    const requests = takeRequests(reader)
    while (requests.length > 0) requests.shift().error(reason)
  }

  function cancel(stream: Readable, reason: unknown): Promise<unknown> {
    stream.disturbed = true
    if (stream.state === 'closed') return resolved()
    if (stream.state === 'errored') return rejected(stream.error)
    closeStream(stream)
    const { controller, reader } = stream
    if (reader?.byob) closeRequests(reader)
    controller.forget()
    controller.queue = chain()
    const cancelled = controller.cancel(reason)
    stop(controller)
    return after(cancelled, () => {})
  }

  function acquire(stream: Readable, byob = false): Reader {
    if (isLocked(stream)) throw new TypeError('The stream is locked: it has a reader already.')
    const { state, error } = stream
    const closed = state === 'errored' ? refuse(defer(), error) : defer()
    if (state === 'closed') closed.resolve()
    const reader: Reader = { stream, closed, requests: chain(), byob }
    stream.reader = reader
    return reader
  }

  function requireStream({ stream }: Reader): Readable {
    if (stream) return stream
    throw new TypeError('The reader was released.')
  }

  function release(reader: Reader): void {
    const { stream } = reader
    if (!stream) return
    const gone = new TypeError('The reader was released.')
    reader.closed = refuse(reader.closed, gone)
    stream.controller.release()
    stream.reader = reader.stream = undefined
    refuseRequests(reader, gone)
  }

  function read(reader: Reader, request: ReadRequest): void {
    const stream = requireStream(reader)
    stream.disturbed = true
    if (stream.state === 'closed') request.close()
    else if (stream.state === 'errored') request.error(stream.error)
    else stream.controller.take(request)
  }

  const readables: Readables = {
    ...{
      readableOf,
      createReadable,
      createController,
      begin,
      acquire,
      release,
      read,
      cancel,
      end,
    },
    ...{ stop, fail, canEnqueue, requireOpen, shouldPull, pullIfNeeded, desiredSize, requireStream },
  }
  return {
    ReadableStream,
    ReadableStreamDefaultReader,
    ReadableStreamDefaultController,
    readables,
    streamOf: (pull, cancelSource) => bodies().streamOf(pull, cancelSource),
    isStream,
    isDisturbed: (stream) => readableOf(stream).disturbed,
    isLocked: (stream) => isLocked(readableOf(stream)),
    readAll: (stream, most) => bodies().readAll(readableOf(stream), most),
    tee: (stream) => tees().tee(readableOf(stream)),
  }
}
export default unit
