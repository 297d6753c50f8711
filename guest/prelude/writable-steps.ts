/** What a writable stream does, step by step: it writes one chunk after the other, and closes, aborts or fails once. */
import type { Primordials } from './primordials.ts'
import type { Deferred, Measure, StreamCore, Writable, Writables, Writer } from './stream-parts.ts'

/** What writable streams do, but for the objects that guests hold. */
export interface WritableSteps extends Omit<Writables, 'writableOf' | 'createWritable'> {
  readonly stateOf: (
    algorithms: Pick<Writable, 'abort' | 'close' | 'write'>,
    mark: number,
    size: Measure | undefined,
  ) => Writable
  /** Lets a stream write when `started` is fulfilled. */
  readonly begin: (stream: Writable, started: unknown) => void
  /** @throws TypeError for a stream that has a writer */
  readonly requireUnlocked: (stream: Writable) => void
  /** The stream of a writer. @throws TypeError for one that was released */
  readonly streamOf: (writer: Writer) => Writable
}

/** In a queue it stands for the end. */
const CLOSE = {}

/** @param signalAbort tells the signal of a stream, if it has one, that the stream was aborted */
export function writableSteps(
  { after, rejected, resolved }: Primordials,
  { chain, defer, nothing, OURS, promised, push, refuse, settle, shift }: StreamCore,
  signalAbort: (stream: Writable) => void,
): WritableSteps {
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

  function begin(stream: Writable, started: unknown): void {
    void after(
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
    void after(
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
    void after(
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
    void after(
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

  return {
    ...{ stateOf, begin, requireUnlocked, streamOf, acquireWriter, releaseWriter },
    ...{ closeWritable, abortWritable, failWritable, isClosing },
    writeChunk: (writer, chunk) => promised(() => writeChunk(writer, chunk)),
  }
}
