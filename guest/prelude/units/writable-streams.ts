/** `WritableStream` of the Streams standard, with its writer and its controller. */
import type { AbortExports } from '../abort-exports.ts'
import type { Unit } from '../host.ts'
import type {
  Algorithm,
  Deferred,
  StreamCore,
  Writable,
  WritableController,
  Writables,
  Writer,
} from '../stream-parts.ts'

/** In a queue it stands for the end. */
const CLOSE = {}

const unit: Unit = ({ primordials, use }) => {
  const { rejected, resolved, after } = primordials
  const core = use('stream-core') as unknown as StreamCore
  const { algorithmOf, chain, defer, markOf, methodOf, OURS, promised, refuse, requireOurs } = core
  const abortUnit = (): AbortExports => use('abort') as unknown as AbortExports
  let writableOf!: (stream: unknown) => Writable

  class WritableStream {
    readonly #stream: Writable

    constructor(sink: unknown = undefined, strategy: unknown = undefined) {
      if (sink === OURS) {
        this.#stream = strategy as Writable
        return
      }
      const given = core.sourceOf(sink)
      const measured = core.strategyOf(strategy)
      const abort = algorithmOf(given, 'abort')
      const close = algorithmOf(given, 'close')
      const start = methodOf(given, 'start')
      if (given.type !== undefined) throw new RangeError('A WritableStream has no type.')
      const write = algorithmOf(given, 'write')
      const stream = createState()
      this.#stream = stream
      stream.facade = this
      const { size = one } = measured
      const controller = createController(stream, { abort, close, write, size, mark: markOf(measured, 1) })
      const facade = new WritableStreamDefaultController(OURS, controller)
      controller.write = (chunk) => write(chunk, facade)
      begin(controller, start?.(facade))
    }

    get locked(): boolean {
      return isLocked(this.#stream)
    }

    abort(reason: unknown = undefined): Promise<unknown> {
      return promised(() => {
        requireUnlocked(this.#stream)
        return abortWritable(this.#stream, reason)
      })
    }

    close(): Promise<unknown> {
      return promised(() => {
        requireUnlocked(this.#stream)
        return closeWritable(this.#stream)
      })
    }

    getWriter(): object {
      void this.#stream
      return new WritableStreamDefaultWriter(this)
    }

    static {
      writableOf = (stream) => {
        if (typeof stream === 'object' && stream !== null && #stream in stream) return stream.#stream
        throw new TypeError('It takes a WritableStream.')
      }
    }
  }

  class WritableStreamDefaultWriter {
    readonly #writer: Writer

    constructor(stream: unknown) {
      this.#writer = acquireWriter(writableOf(stream))
    }

    get closed(): Promise<unknown> {
      return promised(() => this.#writer.closed.promise)
    }

    get desiredSize(): number | null {
      const { state, controller } = streamOf(this.#writer)
      if (state === 'writable') return desiredSize(controller)
      return state === 'closed' ? 0 : null
    }

    get ready(): Promise<unknown> {
      return promised(() => this.#writer.ready.promise)
    }

    abort(reason: unknown = undefined): Promise<unknown> {
      return promised(() => abortWritable(streamOf(this.#writer), reason))
    }

    close(): Promise<unknown> {
      return promised(() => closeWritable(streamOf(this.#writer)))
    }

    releaseLock(): void {
      releaseWriter(this.#writer)
    }

    write(chunk: unknown = undefined): Promise<unknown> {
      return promised(() => writeChunk(this.#writer, chunk))
    }
  }

  class WritableStreamDefaultController {
    readonly #controller: WritableController

    constructor(key: unknown, controller: WritableController) {
      requireOurs(key)
      this.#controller = controller
    }

    get signal(): object {
      const controller = this.#controller
      controller.signal ??= abortUnit().createSignal()
      signalAbort(controller)
      return controller.signal
    }

    error(reason: unknown = undefined): void {
      failWritable(this.#controller, reason)
    }
  }

  const one = (): number => 1
  const nothing: Algorithm = () => resolved()
  const isLocked = ({ writer }: Writable): boolean => writer !== undefined
  const desiredSize = ({ mark, queue }: WritableController): number => mark - queue.total
  const isClosing = ({ close, closing }: Writable): boolean => (close ?? closing) !== undefined

  function requireUnlocked(stream: Writable): void {
    if (isLocked(stream)) throw new TypeError('The stream is locked: it has a writer.')
  }

  function createState(): Writable {
    return {
      state: 'writable',
      error: undefined,
      writer: undefined,
      controller: undefined as never,
      backpressure: false,
      requests: chain(),
      write: undefined,
      close: undefined,
      closing: undefined,
      abort: undefined,
      facade: undefined as never,
    }
  }

  function createController(
    stream: Writable,
    parts: Pick<WritableController, 'abort' | 'close' | 'write' | 'size' | 'mark'>,
  ): WritableController {
    const controller = {
      ...parts,
      stream,
      queue: chain(),
      started: false,
      signal: undefined,
      aborted: undefined,
    }
    stream.controller = controller
    stream.backpressure = desiredSize(controller) <= 0
    return controller
  }

  const createWritable: Writables['createWritable'] = ({ start, ...parts }) => {
    const stream = createState()
    stream.facade = new WritableStream(OURS, stream)
    begin(createController(stream, parts), start)
    return stream
  }

  function begin(controller: WritableController, started: unknown): void {
    const { stream } = controller
    after(
      resolved(started),
      () => {
        controller.started = true
        advance(controller)
      },
      (error) => {
        controller.started = true
        reject(stream, error)
      },
    )
  }

  /** Does what comes first in the queue. */
  function advance(controller: WritableController): void {
    const { queue, started, stream } = controller
    if (!started || stream.write) return
    if (stream.state === 'erroring') finishErroring(stream)
    else if (queue.length > 0) {
      if (queue.first === CLOSE) closeSink(controller)
      else writeToSink(controller, queue.first)
    }
  }

  function closeSink(controller: WritableController): void {
    const { queue, stream } = controller
    const closing = stream.close as Deferred
    stream.closing = closing
    stream.close = undefined
    queue.shift()
    const closed = controller.close()
    stop(controller)
    after(
      closed,
      () => {
        closing.resolve()
        stream.closing = undefined
        if (stream.state === 'erroring') {
          stream.error = undefined
          stream.abort?.done.resolve()
          stream.abort = undefined
        }
        stream.state = 'closed'
        stream.writer?.closed.resolve()
      },
      (error) => {
        closing.reject(error)
        stream.closing = undefined
        stream.abort?.done.reject(error)
        stream.abort = undefined
        reject(stream, error)
      },
    )
  }

  function writeToSink(controller: WritableController, chunk: unknown): void {
    const { stream } = controller
    const write = stream.requests.shift()
    stream.write = write
    after(
      controller.write(chunk),
      () => {
        write.resolve()
        stream.write = undefined
        controller.queue.shift()
        measure(controller)
        advance(controller)
      },
      (error) => {
        if (stream.state === 'writable') stop(controller)
        write.reject(error)
        stream.write = undefined
        reject(stream, error)
      },
    )
  }

  /** Tells the writer whether more is wanted. */
  function measure(controller: WritableController): void {
    const { stream } = controller
    if (isClosing(stream) || stream.state !== 'writable') return
    const { backpressure, writer } = stream
    stream.backpressure = desiredSize(controller) <= 0
    if (!writer || backpressure === stream.backpressure) return
    if (backpressure) writer.ready.resolve()
    else writer.ready = defer()
  }

  function stop(controller: WritableController): void {
    controller.write = controller.close = controller.abort = nothing
    controller.size = undefined
  }

  function failWritable(controller: WritableController, reason: unknown): void {
    if (controller.stream.state !== 'writable') return
    stop(controller)
    startErroring(controller.stream, reason)
  }

  function reject(stream: Writable, reason: unknown): void {
    if (stream.state === 'writable') startErroring(stream, reason)
    else finishErroring(stream)
  }

  function startErroring(stream: Writable, reason: unknown): void {
    const { closing, controller, write, writer } = stream
    stream.state = 'erroring'
    stream.error = reason
    if (writer) writer.ready = refuse(writer.ready, reason)
    if (!write && !closing && controller.started) finishErroring(stream)
  }

  function finishErroring(stream: Writable): void {
    const { abort, controller, error, requests } = stream
    stream.state = 'errored'
    controller.queue = chain()
    stream.requests = chain()
    while (requests.length > 0) requests.shift().reject(error)
    stream.abort = undefined
    if (abort && !abort.wasErroring) {
      const aborted = controller.abort(abort.reason)
      stop(controller)
      after(
        aborted,
        () => {
          abort.done.resolve()
          refuseClosed(stream)
        },
        (failure) => {
          abort.done.reject(failure)
          refuseClosed(stream)
        },
      )
    } else {
      abort?.done.reject(error)
      refuseClosed(stream)
    }
  }

  function refuseClosed(stream: Writable): void {
    const { close, error, writer } = stream
    close?.reject(error)
    stream.close = undefined
    if (writer) writer.closed = refuse(writer.closed, error)
  }

  function signalAbort({ aborted, signal }: WritableController): void {
    if (aborted && signal) abortUnit().abortSignal(signal, aborted.reason)
  }

  function abortWritable(stream: Writable, reason: unknown): Promise<unknown> {
    const isOver = (): boolean => stream.state === 'closed' || stream.state === 'errored'
    if (isOver()) return resolved()
    const { controller } = stream
    controller.aborted ??= { reason }
    signalAbort(controller)
    // Listeners of the signal were called.
    if (isOver()) return resolved()
    if (stream.abort) return stream.abort.done.promise
    const wasErroring = stream.state === 'erroring'
    const done = defer()
    stream.abort = { done, reason: wasErroring ? undefined : reason, wasErroring }
    if (!wasErroring) startErroring(stream, reason)
    return done.promise
  }

  /** @throws TypeError where it was closed already, or failed */
  function closeWritable(stream: Writable): Promise<unknown> {
    const { backpressure, controller, state, writer } = stream
    if (state === 'closed' || state === 'errored' || isClosing(stream)) {
      throw new TypeError('The stream is closed, or will be, or failed.')
    }
    const done = defer()
    stream.close = done
    if (backpressure && state === 'writable') writer?.ready.resolve()
    controller.queue.push(CLOSE, 0)
    advance(controller)
    return done.promise
  }

  function acquireWriter(stream: Writable): Writer {
    requireUnlocked(stream)
    const { backpressure, error, state } = stream
    const ready = state[0] === 'e' ? refuse(defer(), error) : defer()
    const closed = state === 'errored' ? refuse(defer(), error) : defer()
    if (state === 'closed') closed.resolve()
    if (state === 'closed' || !backpressure || isClosing(stream)) ready.resolve()
    const writer: Writer = { stream, closed, ready }
    stream.writer = writer
    return writer
  }

  function releaseWriter(writer: Writer): void {
    const { stream } = writer
    if (!stream) return
    const gone = new TypeError('The writer was released.')
    writer.ready = refuse(writer.ready, gone)
    writer.closed = refuse(writer.closed, gone)
    stream.writer = writer.stream = undefined
  }

  function streamOf({ stream }: Writer): Writable {
    if (stream) return stream
    throw new TypeError('The writer was released.')
  }

  function writeChunk(writer: Writer, chunk: unknown): Promise<unknown> {
    const stream = streamOf(writer)
    const { controller } = stream
    let size = 1
    try {
      if (controller.size) size = controller.size(chunk)
    } catch (error) {
      failWritable(controller, error)
    }
    if (streamOf(writer) !== stream) throw new TypeError('The writer was released.')
    const { error, state } = stream
    if (state === 'errored') return rejected(error)
    if (state === 'closed' || isClosing(stream)) throw new TypeError('The stream is closed, or will be.')
    if (state === 'erroring') return rejected(error)
    const done = defer()
    stream.requests.push(done)
    try {
      controller.queue.push(chunk, size)
    } catch (failure) {
      failWritable(controller, failure)
      return done.promise
    }
    measure(controller)
    advance(controller)
    return done.promise
  }

  const writables: Writables = {
    ...{ writableOf, createWritable, acquireWriter, releaseWriter },
    ...{ closeWritable, abortWritable, failWritable, isClosing },
    writeChunk: (writer, chunk) => promised(() => writeChunk(writer, chunk)),
  }
  return { WritableStream, WritableStreamDefaultWriter, WritableStreamDefaultController, writables }
}
export default unit
