/** `TransformStream` of the Streams standard, and its controller. */
import type { Unit } from '../host.ts'
import type {
  Algorithm,
  Controller,
  Deferred,
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

const unit: Unit<Transforms & Record<string, unknown>> = ({ primordials, use }) => {
  const { resolved, after } = primordials
  const core = use('stream-core') as unknown as StreamCore
  const { algorithmOf, defer, markOf, methodOf, OURS, promised, requireOurs, strategyOf } = core
  const { readables } = use('streams') as unknown as { readables: Readables }
  const { writables } = use('writable-streams') as unknown as { writables: Writables }
  const { createReadable, desiredSize, fail, shouldPull } = readables
  const { createWritable, failWritable } = writables
  const one = (): number => 1
  const nothing: Algorithm = () => resolved()

  class TransformStream {
    readonly #stream: Transform

    constructor(
      transformer: unknown = undefined,
      writableStrategy: unknown = undefined,
      readableStrategy: unknown = undefined,
    ) {
      const given = core.sourceOf(transformer)
      const input = strategyOf(writableStrategy)
      const output = strategyOf(readableStrategy)
      const cancel = algorithmOf(given, 'cancel')
      const flush = algorithmOf(given, 'flush')
      if (given.readableType !== undefined) throw new RangeError('"readableType" is not there yet.')
      const start = methodOf(given, 'start')
      const isIdentity = given.transform === undefined
      const transform = algorithmOf(given, 'transform')
      if (given.writableType !== undefined) throw new RangeError('"writableType" is not there yet.')
      const started = defer()
      const outputMark = markOf(output, 0)
      const stream = create(started.promise, {
        ...{ writableMark: markOf(input, 1), writableSize: input.size },
        ...{ readableMark: outputMark, readableSize: output.size },
      })
      this.#stream = stream
      const controller = new TransformStreamDefaultController(OURS, stream)
      stream.cancel = cancel
      stream.flush = () => flush(controller)
      stream.transform = isIdentity
        ? (chunk) => promised(() => enqueue(stream, chunk))
        : (chunk) => transform(chunk, controller)
      started.resolve(start?.(controller))
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
      requireOurs(key)
      this.#stream = stream
    }

    get desiredSize(): number | null {
      return desiredSize(this.#stream.readable.controller)
    }

    enqueue(chunk: unknown = undefined): void {
      enqueue(this.#stream, chunk)
    }

    error(reason: unknown = undefined): void {
      failBoth(this.#stream, reason)
    }

    terminate(): void {
      const stream = this.#stream
      stream.readable.controller.close()
      failInput(stream, new TypeError('The stream was terminated.'))
    }
  }

  interface Queues {
    readonly writableMark: number
    readonly writableSize: Controller['size'] | undefined
    readonly readableMark: number
    readonly readableSize: Controller['size'] | undefined
  }

  function create(start: Promise<unknown>, queues: Queues): Transform {
    const { writableMark, writableSize = one, readableMark, readableSize = one } = queues
    const failOutput = (reason: unknown): void => fail(stream.readable.controller, reason)
    const stream: Transform = {
      readable: createReadable({
        ...{ start, mark: readableMark, size: readableSize, bytes: false },
        pull: () => {
          setBackpressure(stream, false)
          return stream.changed.promise
        },
        cancel: (reason) => {
          const failInputWith = (error: unknown): void => failInput(stream, error)
          return finish(
            stream,
            () => stream.cancel(reason),
            stream.writable,
            () => failInput(stream, reason),
            failInputWith,
          )
        },
      }),
      writable: createWritable({
        ...{ start, mark: writableMark, size: writableSize },
        write: (chunk) => write(stream, chunk),
        close: () =>
          finish(
            stream,
            () => stream.flush(),
            stream.readable,
            () => stream.readable.controller.close(),
            failOutput,
          ),
        abort: (reason) =>
          finish(
            stream,
            () => stream.cancel(reason),
            stream.readable,
            () => failOutput(reason),
            failOutput,
          ),
      }),
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
    after(
      acted,
      () => {
        if (other.state === 'errored') done.reject(other.error)
        else {
          succeed()
          done.resolve()
        }
      },
      (error) => {
        failWith(error)
        done.reject(error)
      },
    )
    return done.promise
  }

  function write(stream: Transform, chunk: unknown): Promise<unknown> {
    if (!stream.backpressure) return transformChunk(stream, chunk)
    return after(stream.changed.promise, () => {
      const { error, state } = stream.writable
      if (state === 'erroring') throw error
      return transformChunk(stream, chunk)
    })
  }

  function transformChunk(stream: Transform, chunk: unknown): Promise<unknown> {
    return after(stream.transform(chunk), undefined, (error) => {
      failBoth(stream, error)
      throw error
    })
  }

  /** @throws TypeError unless the readable side is open, or what it fails with by the size of the chunk */
  function enqueue(stream: Transform, chunk: unknown): void {
    const { controller } = stream.readable
    readables.requireOpen(controller)
    try {
      controller.enqueue(chunk as never)
    } catch (error) {
      failInput(stream, error)
      throw stream.readable.error
    }
    if (!shouldPull(controller) && !stream.backpressure) setBackpressure(stream, true)
  }

  function setBackpressure(stream: Transform, backpressure: boolean): void {
    stream.changed.resolve()
    stream.changed = defer()
    stream.backpressure = backpressure
  }

  function stop(stream: Transform): void {
    stream.transform = stream.flush = stream.cancel = nothing
  }

  function failBoth(stream: Transform, reason: unknown): void {
    fail(stream.readable.controller, reason)
    failInput(stream, reason)
  }

  /** Lets a write that waits go on, to find that it fails. */
  function failInput(stream: Transform, reason: unknown): void {
    stop(stream)
    failWritable(stream.writable.controller, reason)
    if (stream.backpressure) setBackpressure(stream, false)
  }

  return {
    TransformStream,
    TransformStreamDefaultController,
    createTransform: (transform, flush) => {
      const stream = create(resolved(), {
        writableMark: 1,
        writableSize: one,
        readableMark: 0,
        readableSize: one,
      })
      const give = (chunk: unknown): void => enqueue(stream, chunk)
      stream.transform = (chunk) => promised(() => transform(chunk, give))
      stream.flush = () => promised(() => flush(give))
      return { readable: stream.readable.facade, writable: stream.writable.facade }
    },
  }
}
export default unit
