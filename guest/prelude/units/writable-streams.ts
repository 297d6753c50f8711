/** `WritableStream` of the Streams standard, with its writer and its controller. */
import type { AbortExports } from '../abort-exports.ts'
import type { Unit } from '../host.ts'
import type { StreamCore, Writable, Writables, Writer } from '../stream-parts.ts'
import { writableSteps } from '../writable-steps.ts'

const unit: Unit = ({ primordials, use }) => {
  const core = use('stream-core') as unknown as StreamCore
  const { algorithmOf, OURS, promised } = core
  const abortUnit = (): AbortExports => use('abort') as unknown as AbortExports
  const steps = writableSteps(primordials, core, signalAbort)
  const { abortWritable, acquireWriter, begin, closeWritable, failWritable } = steps
  const { releaseWriter, requireUnlocked, stateOf, streamOf, writeChunk } = steps
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

  const createWritable: Writables['createWritable'] = (algorithms, mark, size, start) => {
    const stream = stateOf(algorithms, mark, size)
    stream.facade = new WritableStream(OURS, stream)
    begin(stream, start)
    return stream
  }

  function signalAbort({ aborted, signal }: Writable): void {
    if (aborted && signal) abortUnit().abortSignal(signal, aborted.reason)
  }

  const writables: Writables = { ...steps, writableOf, createWritable }
  return { WritableStream, WritableStreamDefaultWriter, WritableStreamDefaultController, writables }
}
export default unit
