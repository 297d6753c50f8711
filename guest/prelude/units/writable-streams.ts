/** `WritableStream` of the Streams standard, with its writer and its controller. */
import type { AbortExports } from '../abort-exports.ts'
import type { Unit } from '../host.ts'
import type { Deferred, Measure, StreamCore, Writable, Writables, Writer } from '../stream-parts.ts'

/** In a queue it stands for the end. */
const CLOSE = {}

const unit: Unit = ({ primordials, use }) => {
  const { after, rejected, resolved } = primordials
  const core = use('stream-core') as unknown as StreamCore
  const { algorithmOf, chain, defer, nothing, OURS, promised, push, refuse, settle, shift } = core
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
      const start = core.methodOf(given, 'start')
      if (given.type !== undefined) throw new RangeError('A WritableStream has no type.')
      const write = algorithmOf(given, 'write')
      const stream = stateOf({ abort, close, write }, core.markOf(measured, 1), measured.size)
      const controller = new WritableStreamDefaultController(OURS, stream)
      this.#stream = stream
      stream.facade = this
      stream.write = (chunk) => write(chunk, controller)
      begin(stream, start?.(controller))
    }

    get locked(): boolean {
      return this.#stream.writer !== undefined
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
      const stream = streamOf(this.#writer)
      if (stream.state === 'writable') return stream.mark - stream.queue.total
      return stream.state === 'closed' ? 0 : null
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
    readonly #stream: Writable

    constructor(key: unknown, stream: Writable) {
      core.requireOurs(key)
      this.#stream = stream
    }

    get signal(): object {
      const stream = this.#stream
      stream.signal ??= abortUnit().createSignal()
      signalAbort(stream)
      return stream.signal
    }

    error(reason: unknown = undefined): void {
      failWritable(this.#stream, reason)
    }
  }

  const hasBackpressure = ({ mark, queue }: Writable): boolean => mark <= queue.total
  const isClosing = ({ closing, toClose }: Writable): boolean => (toClose ?? closing) !== undefined

  function requireUnlocked({ writer }: Writable): void {
    if (writer) throw new TypeError('The stream is locked: it has a writer.')
  }

  function stateOf(
    { abort, close, write }: Pick<Writable, 'abort' | 'close' | 'write'>,
    mark: number,
    size: Measure | undefined,
  ): Writable {
    return {
      ...{
        state: 'writable',
        error: undefined,
        writer: undefined,
        backpressure: mark <= 0,
        queue: chain(),
        mark,
      },
      ...{
        started: false,
        write,
        close,
        abort,
        size,
        writes: chain(),
        written: undefined,
        toClose: undefined,
      },
      ...{ closing: undefined, toAbort: undefined, signal: undefined, aborted: undefined, facade: OURS },
    }
  }

  const createWritable: Writables['createWritable'] = (algorithms, mark, size, start) => {
    const stream = stateOf(algorithms, mark, size)
    stream.facade = new WritableStream(OURS, stream)
    begin(stream, start)
    return stream
  }

  function begin(stream: Writable, started: unknown): void {
    after(
      resolved(started),
      () => {
        stream.started = true
        advance(stream)
      },
      (error) => {
        stream.started = true
        refuseMore(stream, error)
      },
    )
  }

  /** Does what comes first in the queue. */
  function advance(stream: Writable): void {
    const { queue, started, state, written } = stream
    if (!started || written) return
    if (state === 'erroring') finishErroring(stream)
    else if (queue.first) {
      if (queue.first.value === CLOSE) closeSink(stream)
      else writeToSink(stream, queue.first.value)
    }
  }

  function closeSink(stream: Writable): void {
    const closing = stream.toClose as Deferred
    stream.closing = closing
    stream.toClose = undefined
    shift(stream.queue)
    const closed = stream.close()
    stop(stream)
    after(
      closed,
      () => {
        closing.resolve(undefined)
        stream.closing = undefined
        if (stream.state === 'erroring') {
          stream.error = undefined
          stream.toAbort?.done.resolve(undefined)
          stream.toAbort = undefined
        }
        stream.state = 'closed'
        if (stream.writer) settle(stream.writer.closed)
      },
      (error) => {
        closing.reject(error)
        stream.closing = undefined
        stream.toAbort?.done.reject(error)
        stream.toAbort = undefined
        refuseMore(stream, error)
      },
    )
  }

  function writeToSink(stream: Writable, chunk: unknown): void {
    const written = shift(stream.writes)
    stream.written = written
    after(
      stream.write(chunk),
      () => {
        written.resolve(undefined)
        stream.written = undefined
        shift(stream.queue)
        measure(stream)
        advance(stream)
      },
      (error) => {
        if (stream.state === 'writable') stop(stream)
        written.reject(error)
        stream.written = undefined
        refuseMore(stream, error)
      },
    )
  }

  /** Tells the writer whether more is wanted. */
  function measure(stream: Writable): void {
    const { backpressure, state, writer } = stream
    if (isClosing(stream) || state !== 'writable') return
    stream.backpressure = hasBackpressure(stream)
    if (!writer || backpressure === stream.backpressure) return
    if (backpressure) settle(writer.ready)
    else writer.ready = defer()
  }

  function stop(stream: Writable): void {
    stream.write = stream.close = stream.abort = nothing
    stream.size = undefined
  }

  function failWritable(stream: Writable, reason: unknown): void {
    if (stream.state !== 'writable') return
    stop(stream)
    startErroring(stream, reason)
  }

  function refuseMore(stream: Writable, reason: unknown): void {
    if (stream.state === 'writable') startErroring(stream, reason)
    else finishErroring(stream)
  }

  function startErroring(stream: Writable, reason: unknown): void {
    const { closing, started, writer, written } = stream
    stream.state = 'erroring'
    stream.error = reason
    if (writer) writer.ready = refuse(writer.ready, reason)
    if (!written && !closing && started) finishErroring(stream)
  }

  function finishErroring(stream: Writable): void {
    const { abort, error, toAbort, writes } = stream
    stream.state = 'errored'
    stream.queue = chain()
    stream.writes = chain()
    stream.toAbort = undefined
    while (writes.length > 0) shift(writes).reject(error)
    if (!toAbort || toAbort.wasErroring) {
      toAbort?.done.reject(error)
      refuseClosed(stream)
      return
    }
    const aborted = abort(toAbort.reason)
    stop(stream)
    after(
      aborted,
      () => {
        toAbort.done.resolve(undefined)
        refuseClosed(stream)
      },
      (failure) => {
        toAbort.done.reject(failure)
        refuseClosed(stream)
      },
    )
  }

  function refuseClosed(stream: Writable): void {
    const { error, toClose, writer } = stream
    toClose?.reject(error)
    stream.toClose = undefined
    if (writer) writer.closed = refuse(writer.closed, error)
  }

  function signalAbort({ aborted, signal }: Writable): void {
    if (aborted && signal) abortUnit().abortSignal(signal, aborted.reason)
  }

  const isOver = ({ state }: Writable): boolean => state === 'closed' || state === 'errored'

  function abortWritable(stream: Writable, reason: unknown): Promise<unknown> {
    if (isOver(stream)) return resolved()
    stream.aborted ??= { reason }
    signalAbort(stream)
    // Listeners of the signal were called.
    if (isOver(stream)) return resolved()
    if (stream.toAbort) return stream.toAbort.done.promise
    const wasErroring = stream.state === 'erroring'
    const done = defer()
    stream.toAbort = { done, reason: wasErroring ? undefined : reason, wasErroring }
    if (!wasErroring) startErroring(stream, reason)
    return done.promise
  }

  function closeWritable(stream: Writable): Promise<unknown> {
    const { backpressure, queue, state, writer } = stream
    if (isOver(stream) || isClosing(stream))
      throw new TypeError('The stream is closed, or will be, or failed.')
    const done = defer()
    stream.toClose = done
    if (writer && backpressure && state === 'writable') settle(writer.ready)
    push(queue, CLOSE)
    advance(stream)
    return done.promise
  }

  function acquireWriter(stream: Writable): Writer {
    requireUnlocked(stream)
    const { backpressure, error, state } = stream
    const writer: Writer = { stream, closed: defer(), ready: defer() }
    stream.writer = writer
    if (state === 'errored') refuse(writer.closed, error)
    else if (state === 'closed') settle(writer.closed)
    if (state === 'errored' || state === 'erroring') refuse(writer.ready, error)
    else if (!backpressure || state === 'closed' || isClosing(stream)) settle(writer.ready)
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
    let size = 1
    try {
      if (stream.size) size = stream.size(chunk)
    } catch (error) {
      failWritable(stream, error)
    }
    // Whatever measured the chunk may have done anything.
    streamOf(writer)
    const { error, queue, state } = stream
    if (state === 'errored') return rejected(error)
    if (state === 'closed' || isClosing(stream)) throw new TypeError('The stream is closed, or will be.')
    if (state === 'erroring') return rejected(error)
    const done = defer()
    push(stream.writes, done)
    try {
      push(queue, chunk, size)
    } catch (failure) {
      failWritable(stream, failure)
      return done.promise
    }
    measure(stream)
    advance(stream)
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
