/** Streams of bytes of the Streams standard, as guests see them: the controller, and the reader with its own buffers. */
import { dictionary, requireArguments } from '../arguments.ts'
import { byteFilling } from '../byte-filling.ts'
import type { ByteStreams } from '../byte-parts.ts'
import { byteViews } from '../byte-views.ts'
import type { Unit } from '../host.ts'
import type { BYOBRequest, Bytes, Readable, Readables, Reader, StreamCore } from '../stream-parts.ts'

const unit: Unit<ByteStreams & Record<string, unknown>> = ({ primordials, use }) => {
  const core = use('stream-core') as unknown as StreamCore
  const { defer, OURS, promised, requireOurs } = core
  const { readables, ReadableStreamDefaultReader } = use('streams') as unknown as {
    readables: Readables
    ReadableStreamDefaultReader: new (stream: object) => object
  }
  const { acquire, cancel, desiredSize, fail, readableOf, requireOpen, requireStream } = readables
  const views = byteViews(primordials)
  const { isDetached, partsOf, sizeOf, slice, viewOf } = views
  const filling = byteFilling(
    core,
    readables,
    views,
    (request) => new ReadableStreamBYOBRequest(OURS, request),
  )
  const { fillBuffers, readInto, requestOf, respond, respondWith } = filling

  class ReadableStreamBYOBReader {
    readonly #reader: Reader

    constructor(stream: unknown) {
      this.#reader = acquireOwn(readableOf(stream))
    }

    get closed(): Promise<unknown> {
      return promised(() => this.#reader.closed.promise)
    }

    cancel(reason: unknown = undefined): Promise<unknown> {
      return promised(() => cancel(requireStream(this.#reader), reason))
    }

    read(view: unknown, options: unknown = undefined): Promise<unknown> {
      return promised(() => {
        const reader = this.#reader
        const { length, name } = filledParts(view)
        const { min = 1 } = dictionary(options, 'ReadableStreamBYOBReader.read')
        const least = wholeNumber(min)
        if (least === 0) throw new TypeError('"min" is at least 1.')
        if (least > length / sizeOf(name)) throw new RangeError('"min" is more than the view has room for.')
        const { promise, resolve, reject } = defer()
        readInto(reader, view, least, { give: (value, done) => resolve({ value, done }), fail: reject })
        return promise
      })
    }

    releaseLock(): void {
      readables.release(this.#reader)
    }
  }

  class ReadableByteStreamController {
    readonly #stream: Readable

    constructor(key: unknown, stream: Readable) {
      requireOurs(key)
      this.#stream = stream
    }

    get byobRequest(): object | null {
      return requestOf(this.#stream)?.facade ?? null
    }

    get desiredSize(): number | null {
      return desiredSize(this.#stream)
    }

    close(): void {
      requireOpen(this.#stream)
      readables.close(this.#stream)
    }

    enqueue(chunk: unknown): void {
      const stream = this.#stream
      filledParts(chunk)
      requireOpen(stream)
      readables.enqueue(stream, chunk)
    }

    error(reason: unknown = undefined): void {
      fail(this.#stream, reason)
    }
  }

  class ReadableStreamBYOBRequest {
    readonly #request: BYOBRequest

    constructor(key: unknown, request: BYOBRequest) {
      requireOurs(key)
      this.#request = request
    }

    get view(): Uint8Array | null {
      return this.#request.view
    }

    respond(bytesWritten: unknown): void {
      const request = this.#request
      requireArguments(arguments.length, 1, 'ReadableStreamBYOBRequest.respond')
      const count = wholeNumber(bytesWritten)
      const stream = requirePending(request)
      if (isDetached(partsOf(request.view).buffer)) throw new TypeError('The buffer was given away.')
      respond(stream, count)
    }

    respondWithNewView(view: unknown): void {
      const request = this.#request
      const { buffer } = partsOf(view)
      const stream = requirePending(request)
      if (isDetached(buffer)) throw new TypeError('The buffer was given away.')
      respondWith(stream, view)
    }
  }

  function requirePending({ stream }: BYOBRequest): Readable {
    if (stream) return stream
    throw new TypeError('The BYOB request was answered already.')
  }

  /** A view that shows something. @throws TypeError for anything else */
  function filledParts(view: unknown): ReturnType<typeof partsOf> {
    const parts = partsOf(view)
    if (parts.length > 0) return parts
    throw new TypeError('The view shows nothing, or its buffer was given away.')
  }

  function acquireOwn(stream: Readable): Reader {
    if (!stream.isOfBytes) throw new TypeError('Only a stream of type "bytes" has such a reader.')
    const reader = acquire(stream, true)
    if (!stream.bytes) fillBuffers(stream, undefined)
    return reader
  }

  return {
    ...{ ReadableStreamBYOBReader, ReadableByteStreamController, ReadableStreamBYOBRequest },
    ...filling,
    control: (stream, type, autoAllocateChunkSize) => {
      if (`${type as string}` !== 'bytes') {
        throw new TypeError('The type of a ReadableStream is "bytes", if any.')
      }
      if (stream.size) throw new RangeError('A stream of bytes has no "size".')
      const autoAllocate =
        autoAllocateChunkSize === undefined ? undefined : wholeNumber(autoAllocateChunkSize)
      if (autoAllocate === 0) throw new TypeError('"autoAllocateChunkSize" is at least 1.')
      fillBuffers(stream, autoAllocate)
      return new ReadableByteStreamController(OURS, stream)
    },
    getReader: ({ facade }, options) => {
      const { mode } = dictionary(options, 'ReadableStream.getReader')
      if (mode === undefined) return new ReadableStreamDefaultReader(facade)
      if (`${mode as string}` === 'byob') return new ReadableStreamBYOBReader(facade)
      throw new TypeError('The mode of a reader is "byob", if any.')
    },
    finish: (stream) => {
      readables.close(stream)
      if ((stream.bytes as Bytes).pulls.length > 0) respond(stream, 0)
    },
    copyOf: (view) => {
      const { at, buffer, length } = partsOf(view)
      return viewOf('Uint8Array', slice(buffer, at, at + length), 0, length) as Uint8Array
    },
  }
}
export default unit

/** An `[EnforceRange] unsigned long long`. @throws TypeError for what is none */
function wholeNumber(value: unknown): number {
  const number = Math.trunc(Number(value))
  if (number >= 0 && number <= Number.MAX_SAFE_INTEGER) return number
  throw new TypeError('It takes a whole number from 0.')
}
