/** `TransformStream` of the Streams standard, and its controller. */
import { readableCreator } from '../create-readable.ts'
import type { Unit } from '../host.ts'
import type {
  Algorithm,
  Deferred,
  Measure,
  Readable,
  Readables,
  StreamCore,
  Writable,
  Writables,
} from '../stream-parts.ts'

/** Behind a `TransformStream` and its controller. */
interface Transform {
  readonly readable: Readable
  readonly writable: Writable
  backpressure: boolean
  /** Settled when `backpressure` changes. */
  changed: Deferred
  /** Of the flush, or of the cancel that came instead. */
  finish: Deferred | undefined
  transform: Algorithm
  flush: Algorithm
  cancel: Algorithm
}

/** What other units need of it. */
export interface Transforms {
  /**
   * The two sides of a stream that transforms chunks by these; `enqueue` puts chunks on the readable side.
   * @param transform throws what both sides fail with
   */
  readonly createTransform: (
    transform: (chunk: unknown, enqueue: (chunk: unknown) => void) => void,
    flush: (enqueue: (chunk: unknown) => void) => void,
  ) => { readonly readable: object; readonly writable: object }
}

const unit: Unit<Transforms & Record<string, unknown>> = (internals) => {
  const { primordials, use } = internals
  const { resolved, after } = primordials
  const core = use('stream-core') as unknown as StreamCore
  const { algorithmOf, defer, follow, nothing, OURS, promised } = core
  const { readables } = use('streams') as unknown as { readables: Readables }
  const { writables } = use('writable-streams') as unknown as { writables: Writables }
  const { close, desiredSize, fail, requireOpen, shouldPull } = readables
  const createReadable = readableCreator(internals)
  const { createWritable, failWritable } = writables

  class TransformStream {
    readonly #stream: Transform

    constructor(
      transformer: unknown = undefined,
      writableStrategy: unknown = undefined,
      readableStrategy: unknown = undefined,
    ) {
      const given = core.sourceOf(transformer)
      const input = core.strategyOf(writableStrategy)
      const output = core.strategyOf(readableStrategy)
      const cancel = algorithmOf(given, 'cancel')
      const flush = algorithmOf(given, 'flush')
      if (given.readableType !== undefined) throw new RangeError('"readableType" is not there yet.')
      const start = core.methodOf(given, 'start')
      const transform = core.methodOf(given, 'transform')
      if (given.writableType !== undefined) throw new RangeError('"writableType" is not there yet.')
      const started = defer()
      const outputMark = core.markOf(output, 0)
      const stream = create(started.promise, core.markOf(input, 1), input.size, outputMark, output.size)
      this.#stream = stream
      const controller = new TransformStreamDefaultController(OURS, stream)
      stream.cancel = cancel
      stream.flush = () => flush(controller)
      stream.transform = (chunk) =>
        promised(() => (transform ? transform(chunk, controller) : enqueue(stream, chunk)))
      const result = start?.(controller)
      // What is no promise lets both sides begin at once, as the standard has it.
      if (Object(result) === result) follow(resolved(result), started)
      else started.resolve(undefined)
    }

    get readable(): object {
      return this.#stream.readable.facade
    }

    get writable(): object {
      return this.#stream.writable.facade
    }
  }

  class TransformStreamDefaultController {
    readonly #stream: Transform

    constructor(key: unknown, stream: Transform) {
      core.requireOurs(key)
      this.#stream = stream
    }

    get desiredSize(): number | null {
      return desiredSize(this.#stream.readable)
    }

    enqueue(chunk: unknown = undefined): void {
      enqueue(this.#stream, chunk)
    }

    error(reason: unknown = undefined): void {
      failBoth(this.#stream, reason)
    }

    terminate(): void {
      const stream = this.#stream
      close(stream.readable)
      failInput(stream, new TypeError('The stream was terminated.'))
    }
  }

  function create(
    start: Promise<unknown>,
    inputMark: number,
    inputSize: Measure | undefined,
    outputMark: number,
    outputSize: Measure | undefined,
  ): Transform {
    const pull = (): Promise<unknown> => {
      setBackpressure(stream, false)
      return stream.changed.promise
    }
    const failOutput = (reason: unknown): void => fail(stream.readable, reason)
    const failWith = (reason: unknown): void => failInput(stream, reason)
    const cancelOutput = (reason: unknown): Promise<unknown> =>
      finish(
        stream,
        () => stream.cancel(reason),
        stream.writable,
        () => failWith(reason),
        failWith,
      )
    const sink = {
      write: (chunk: unknown) => (stream.backpressure ? write(stream, chunk) : transformChunk(stream, chunk)),
      close: () =>
        finish(
          stream,
          () => stream.flush(),
          stream.readable,
          () => close(stream.readable),
          failOutput,
        ),
      abort: (reason: unknown) =>
        finish(
          stream,
          () => stream.cancel(reason),
          stream.readable,
          () => failOutput(reason),
          failOutput,
        ),
    }
    const stream: Transform = {
      readable: createReadable(pull, cancelOutput, outputMark, false, outputSize, start),
      writable: createWritable(sink, inputMark, inputSize, start),
      ...{ backpressure: true, changed: defer(), finish: undefined },
      ...{ transform: nothing, flush: nothing, cancel: nothing },
    }
    return stream
  }

  /** Flushes or cancels, whichever comes first; whoever comes later waits for that. */
  function finish(
    stream: Transform,
    act: () => Promise<unknown>,
    other: Readable | Writable,
    succeed: () => void,
    failWith: (reason: unknown) => void,
  ): Promise<unknown> {
    if (stream.finish) return stream.finish.promise
    const done = defer()
    stream.finish = done
    const acted = act()
    stop(stream)
    void after(
      acted,
      () => {
        if (other.state === 'errored') done.reject(other.error)
        else {
          succeed()
          done.resolve(undefined)
        }
      },
      (error) => {
        failWith(error)
        done.reject(error)
      },
    )
    return done.promise
  }

  async function write(stream: Transform, chunk: unknown): Promise<void> {
    // What a handler of `then` returns is adopted by a `then` that a guest may have replaced; what is awaited is not.
    await stream.changed.promise
    const { error, state } = stream.writable
    if (state === 'erroring') throw error
    await transformChunk(stream, chunk)
  }

  function transformChunk(stream: Transform, chunk: unknown): Promise<unknown> {
    return after(stream.transform(chunk), undefined, (error) => {
      failBoth(stream, error)
      throw error
    })
  }

  /** @throws TypeError unless the readable side is open, or what it fails with by the size of the chunk */
  function enqueue(stream: Transform, chunk: unknown): void {
    const { readable } = stream
    requireOpen(readable)
    try {
      readables.enqueue(readable, chunk)
    } catch (error) {
      failInput(stream, error)
      throw readable.error
    }
    if (!shouldPull(readable) && !stream.backpressure) setBackpressure(stream, true)
  }

  function setBackpressure(stream: Transform, backpressure: boolean): void {
    stream.changed.resolve(undefined)
    stream.changed = defer()
    stream.backpressure = backpressure
  }

  function stop(stream: Transform): void {
    stream.transform = stream.flush = stream.cancel = nothing
  }

  function failBoth(stream: Transform, reason: unknown): void {
    fail(stream.readable, reason)
    failInput(stream, reason)
  }

  /** Lets a write that waits go on, to find that it fails. */
  function failInput(stream: Transform, reason: unknown): void {
    stop(stream)
    failWritable(stream.writable, reason)
    if (stream.backpressure) setBackpressure(stream, false)
  }

  return {
    TransformStream,
    TransformStreamDefaultController,
    createTransform: (transform, flush) => {
      const stream = create(resolved(), 1, undefined, 0, undefined)
      const give = (chunk: unknown): void => enqueue(stream, chunk)
      stream.transform = (chunk) => promised(() => transform(chunk, give))
      stream.flush = () => promised(() => flush(give))
      return { readable: stream.readable.facade, writable: stream.writable.facade }
    },
  }
}
export default unit
