/**
 * `ReadableStream` of the Streams standard, with the reader and the controller of any chunks. What most programs do
 * not use of it (bytes, piping, tee, iteration, failures) is in units of its own.
 *
 * Invariants
 * 1. No guest code gets a state: only public objects, which hold theirs in private fields.
 * 2. What happens inside never looks at a public object, at `then`, or at anything that a guest can put on a class or
 *    prototype; it calls only what the guest gave to be called.
 */
import type { ByteStreams } from '../byte-parts.ts'
import type { Unit } from '../host.ts'
import type { StreamExports } from '../stream-exports.ts'
import type {
  Algorithm,
  Measure,
  Readable,
  Readables,
  Reader,
  ReadRequest,
  StreamCore,
} from '../stream-parts.ts'
import type { StreamEnds } from './stream-ends.ts'

const unit: Unit<StreamExports & Record<string, unknown>> = ({ defineLazily, primordials, use }) => {
  const { after, resolved } = primordials
  const core = use('stream-core') as unknown as StreamCore
  const { algorithmOf, chain, defer, nothing, OURS, promised, push, refuse, settle, shift } = core
  let isStream!: (value: unknown) => value is ReadableStream
  let readableOf!: (stream: unknown) => Readable

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
      const start = core.methodOf(given, 'start')
      const { type } = given
      const isOfBytes = type !== undefined
      const stream = stateOf(pull, cancel, core.markOf(measured, isOfBytes ? 0 : 1), isOfBytes, measured.size)
      const controller = isOfBytes
        ? bytes().control(stream, type, autoAllocateChunkSize)
        : new ReadableStreamDefaultController(OURS, stream)
      this.#stream = stream
      stream.facade = this
      stream.pull = () => pull(controller)
      begin(stream, start?.(controller))
    }

    get locked(): boolean {
      return this.#stream.reader !== undefined
    }

    cancel(reason: unknown = undefined): Promise<unknown> {
      return promised(() => {
        requireUnlocked(this.#stream)
        return cancel(this.#stream, reason)
      })
    }

    getReader(options: unknown = undefined): object {
      const stream = this.#stream
      return options === undefined
        ? new ReadableStreamDefaultReader(this)
        : bytes().getReader(stream, options)
    }

    static {
      isStream = (value) => typeof value === 'object' && value !== null && #stream in value
      readableOf = (stream) => {
        if (isStream(stream)) return stream.#stream
        throw new TypeError('It takes a ReadableStream.')
      }
    }
  }
  defineLazily(ReadableStream, ['from'], 'stream-methods')
  defineLazily(
    ReadableStream.prototype,
    ['pipeThrough', 'pipeTo', 'tee', 'values', Symbol.asyncIterator],
    'stream-methods',
  )

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
        const { promise, resolve, reject } = defer()
        read(this.#reader, { give: (value, done) => resolve({ value, done }), fail: reject })
        return promise
      })
    }

    releaseLock(): void {
      release(this.#reader)
    }
  }

  class ReadableStreamDefaultController {
    readonly #stream: Readable

    constructor(key: unknown, stream: Readable) {
      core.requireOurs(key)
      this.#stream = stream
    }

    get desiredSize(): number | null {
      return desiredSize(this.#stream)
    }

    close(): void {
      requireOpen(this.#stream)
      close(this.#stream)
    }

    enqueue(chunk: unknown = undefined): void {
      requireOpen(this.#stream)
      enqueue(this.#stream, chunk)
    }

    error(reason: unknown = undefined): void {
      fail(this.#stream, reason)
    }
  }

  const bytes = (): ByteStreams => use('byte-streams') as unknown as ByteStreams
  const ends = (): StreamEnds => use('stream-ends') as unknown as StreamEnds
  const cancel: StreamEnds['cancel'] = (stream, reason) => ends().cancel(stream, reason)
  const fail: StreamEnds['fail'] = (stream, reason) => ends().fail(stream, reason)
  const release: StreamEnds['release'] = (reader) => ends().release(reader)

  function stateOf(
    pull: Algorithm,
    cancelSource: Algorithm,
    mark: number,
    isOfBytes: boolean,
    size: Measure | undefined,
  ): Readable {
    return {
      ...{ state: 'readable', error: undefined, disturbed: false, reader: undefined, queue: chain(), mark },
      ...{ started: false, closing: false, pulling: false, again: false, pull, cancel: cancelSource, size },
      ...{ isOfBytes, bytes: undefined, facade: OURS },
    }
  }

  function begin(stream: Readable, started: unknown): void {
    void after(
      resolved(started),
      () => {
        stream.started = true
        pullIfNeeded(stream)
      },
      (error) => fail(stream, error),
    )
  }

  /** Whether somebody waits for a chunk. */
  const isAsked = ({ reader }: Readable): boolean => reader !== undefined && reader.requests.length > 0

  const canEnqueue = ({ closing, state }: Readable): boolean => !closing && state === 'readable'

  const desiredSize = ({ mark, queue, state }: Readable): number | null =>
    state === 'readable' ? mark - queue.total : state === 'closed' ? 0 : null

  const shouldPull = (stream: Readable): boolean =>
    canEnqueue(stream) && stream.started && (isAsked(stream) || stream.mark > stream.queue.total)

  function requireOpen(stream: Readable): void {
    if (!canEnqueue(stream)) throw new TypeError('The stream is closed, or was asked to close, or failed.')
  }

  function requireUnlocked({ reader }: Readable): void {
    if (reader) throw new TypeError('The stream is locked: it has a reader.')
  }

  function pullIfNeeded(stream: Readable): void {
    if (!shouldPull(stream)) return
    stream.again = stream.pulling
    if (stream.pulling) return
    stream.pulling = true
    void after(
      stream.pull(),
      () => {
        stream.pulling = false
        if (stream.again) pullIfNeeded(stream)
      },
      (error) => fail(stream, error),
    )
  }

  function enqueue(stream: Readable, chunk: unknown): void {
    if (!canEnqueue(stream)) return
    if (stream.bytes) bytes().enqueue(stream, chunk)
    else if (isAsked(stream)) shift((stream.reader as Reader).requests).give(chunk, false)
    else {
      try {
        const { queue, size } = stream
        push(queue, chunk, size ? size(chunk) : 1)
      } catch (error) {
        fail(stream, error)
        throw error
      }
    }
    pullIfNeeded(stream)
  }

  function close(stream: Readable): void {
    if (!canEnqueue(stream)) return
    if (stream.queue.length > 0) stream.closing = true
    else if (stream.bytes) bytes().close(stream)
    else end(stream)
  }

  function stop(stream: Readable): void {
    stream.queue = chain()
    stream.pull = stream.cancel = nothing
    stream.size = undefined
  }

  function end(stream: Readable): void {
    stop(stream)
    closeStream(stream)
  }

  function closeStream(stream: Readable): void {
    const { reader } = stream
    stream.state = 'closed'
    if (!reader) return
    settle(reader.closed)
    if (!reader.byob) answer(reader, (request) => request.give(undefined, true))
  }

  /** Requests that come meanwhile are not among these. */
  function answer(reader: Reader, act: (request: ReadRequest) => void): void {
    const { requests } = reader
    reader.requests = chain()
    while (requests.length > 0) act(shift(requests))
  }

  function acquire(stream: Readable, byob = false): Reader {
    requireUnlocked(stream)
    const reader: Reader = { stream, closed: defer(), requests: chain(), byob }
    stream.reader = reader
    if (stream.state === 'closed') settle(reader.closed)
    if (stream.state === 'errored') refuse(reader.closed, stream.error)
    return reader
  }

  function requireStream({ stream }: Reader): Readable {
    if (stream) return stream
    throw new TypeError('The reader was released.')
  }

  function read(reader: Reader, request: ReadRequest): void {
    const stream = requireStream(reader)
    const { queue, state } = stream
    stream.disturbed = true
    if (state === 'closed') request.give(undefined, true)
    else if (state === 'errored') request.fail(stream.error)
    else if (stream.bytes) bytes().take(stream, request)
    else if (queue.length === 0) {
      push(reader.requests, request)
      pullIfNeeded(stream)
    } else {
      const chunk = shift(queue)
      if (stream.closing && queue.length === 0) end(stream)
      else pullIfNeeded(stream)
      request.give(chunk, false)
    }
  }

  const readables: Readables = {
    ...{ readableOf, stateOf, begin, acquire, requireStream, release, read, cancel, enqueue, close, end },
    ...{ fail, requireOpen, shouldPull, pullIfNeeded, desiredSize, answer, closeStream, stop },
  }
  return {
    ...{ ReadableStream, ReadableStreamDefaultReader, ReadableStreamDefaultController, readables, isStream },
    isDisturbed: (stream) => readableOf(stream).disturbed,
    isLocked: (stream) => readableOf(stream).reader !== undefined,
  }
}
export default unit
