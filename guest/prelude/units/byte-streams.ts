/**
 * Streams of bytes of the Streams standard: the controller that hands bytes from buffer to buffer, and the reader that
 * reads into buffers of its own.
 *
 * Invariants
 * 1. A buffer that is given is transferred: who gave it can neither see nor change what becomes of it.
 * 2. Nothing is written outside of the part of a buffer that the view showed when it was given.
 */
import { dictionary, requireArguments } from '../arguments.ts'
import type { BYOBRequest, ByteStreams, Bytes, Entry, Pull } from '../byte-parts.ts'
import { byteViews } from '../byte-views.ts'
import type { Unit } from '../host.ts'
import type {
  Chain,
  Controller,
  Readable,
  Readables,
  Reader,
  ReadRequest,
  StreamCore,
} from '../stream-parts.ts'

const unit: Unit<ByteStreams & Record<string, unknown>> = ({ primordials, use }) => {
  const { chain, defer, markOf, OURS, promised, requireOurs } = use('stream-core') as unknown as StreamCore
  const { readables } = use('streams') as unknown as { readables: Readables }
  const { acquire, cancel, canEnqueue, createController, desiredSize, end, fail } = readables
  const { pullIfNeeded, readableOf, release, requireOpen, requireStream } = readables
  const { copy, isDetached, lengthOf, partsOf, sizeOf, slice, transfer, viewOf } = byteViews(primordials)

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
        const result = defer()
        readInto(reader, view, least, {
          chunk: (value) => result.resolve({ value, done: false }),
          close: (value) => result.resolve({ value, done: true }),
          error: (reason) => result.reject(reason),
        })
        return result.promise
      })
    }

    releaseLock(): void {
      release(this.#reader)
    }
  }

  class ReadableByteStreamController {
    readonly #controller: Controller

    constructor(key: unknown, controller: Controller) {
      requireOurs(key)
      this.#controller = controller
    }

    get byobRequest(): object | null {
      return requestOf(this.#controller)?.facade ?? null
    }

    get desiredSize(): number | null {
      return desiredSize(this.#controller)
    }

    close(): void {
      requireOpen(this.#controller)
      this.#controller.close()
    }

    enqueue(chunk: unknown): void {
      const controller = this.#controller
      filledParts(chunk)
      requireOpen(controller)
      controller.enqueue(chunk as never)
    }

    error(reason: unknown = undefined): void {
      fail(this.#controller, reason)
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
      // biome-ignore lint/complexity/noArguments: an argument that is undefined counts.
      requireArguments(arguments.length, 1, 'ReadableStreamBYOBRequest.respond')
      const count = wholeNumber(bytesWritten)
      const controller = requirePending(request)
      if (isDetached(partsOf(request.view).buffer)) throw new TypeError('The buffer was given away.')
      respond(controller, count)
    }

    respondWithNewView(view: unknown): void {
      const request = this.#request
      const { buffer } = partsOf(view)
      const controller = requirePending(request)
      if (isDetached(buffer)) throw new TypeError('The buffer was given away.')
      respondWith(controller, view)
    }
  }

  const bytesOf = ({ bytes }: Controller): Bytes => bytes as Bytes

  /** Makes a controller fill buffers, from now on. */
  function becomeBytes(controller: Controller, autoAllocate: number | undefined): void {
    const { queue } = controller
    const bytes: Bytes = { pulls: chain(), autoAllocate, request: undefined }
    controller.bytes = bytes
    controller.queue = chain()
    while (queue.length > 0) {
      const { at, buffer, length } = partsOf(queue.shift())
      keep(controller, transfer(buffer), at, length)
    }
    controller.take = (request) => take(controller, request)
    controller.release = () => {
      const { first } = bytes.pulls
      if (!first) return
      first.reader = 'none'
      bytes.pulls = chain()
      bytes.pulls.push(first)
    }
    controller.forget = () => {
      invalidate(bytes)
      bytes.pulls = chain()
    }
    controller.enqueue = (chunk) => enqueue(controller, chunk)
    controller.close = () => close(controller)
    controller.finish = () => {
      close(controller)
      if (bytes.pulls.length > 0) respond(controller, 0)
    }
  }

  function take(controller: Controller, request: ReadRequest): void {
    if (controller.queue.total > 0) {
      giveFirst(controller, request)
      return
    }
    const { autoAllocate: length, pulls } = bytesOf(controller)
    if (length !== undefined) {
      let buffer: ArrayBuffer
      try {
        buffer = new ArrayBuffer(length)
      } catch (error) {
        request.error(error)
        return
      }
      const whole = { buffer, bufferLength: length, at: 0, length }
      pulls.push({ ...whole, filled: 0, least: 1, elementSize: 1, kind: 'Uint8Array', reader: 'default' })
    }
    ;(controller.stream.reader as Reader).requests.push(request)
    pullIfNeeded(controller)
  }

  /** Gives the first bytes that are kept. */
  function giveFirst(controller: Controller, request: ReadRequest): void {
    const { at, buffer, length } = controller.queue.shift() as Entry
    afterTaking(controller)
    request.chunk(viewOf('Uint8Array', buffer, at, length))
  }

  function afterTaking(controller: Controller): void {
    if (controller.closing && controller.queue.total === 0) end(controller)
    else pullIfNeeded(controller)
  }

  function keep(controller: Controller, buffer: ArrayBuffer, at: number, length: number): void {
    const entry: Entry = { buffer, at, length }
    controller.queue.push(entry, length)
  }

  function keepCopy(controller: Controller, buffer: ArrayBuffer, at: number, length: number): void {
    try {
      keep(controller, slice(buffer, at, at + length), 0, length)
    } catch (error) {
      fail(controller, error)
      throw error
    }
  }

  /** Keeps what was written for a reader that was released meanwhile. */
  function keepWritten(controller: Controller, pull: Pull): void {
    if (pull.filled > 0) keepCopy(controller, pull.buffer, pull.at, pull.filled)
    bytesOf(controller).pulls.shift()
  }

  function enqueue(controller: Controller, chunk: unknown): void {
    if (!canEnqueue(controller)) return
    const bytes = bytesOf(controller)
    const { at, buffer: given, length } = partsOf(chunk)
    const buffer = transfer(given)
    const { first } = bytes.pulls
    if (first) {
      if (isDetached(first.buffer)) throw new TypeError('The buffer of the BYOB request was given away.')
      invalidate(bytes)
      first.buffer = transfer(first.buffer)
      if (first.reader === 'none') keepWritten(controller, first)
    }
    const { reader } = controller.stream
    if (reader && !reader.byob) {
      while (reader.requests.length > 0 && controller.queue.total > 0) {
        giveFirst(controller, reader.requests.shift())
      }
      if (reader.requests.length === 0) keep(controller, buffer, at, length)
      else {
        if (bytes.pulls.length > 0) bytes.pulls.shift()
        reader.requests.shift().chunk(viewOf('Uint8Array', buffer, at, length))
      }
    } else {
      keep(controller, buffer, at, length)
      if (reader) giveAll(controller.stream, fillAll(controller))
    }
    pullIfNeeded(controller)
  }

  function close(controller: Controller): void {
    if (!canEnqueue(controller)) return
    if (controller.queue.total > 0) {
      controller.closing = true
      return
    }
    const { first } = bytesOf(controller).pulls
    if (first && first.filled % first.elementSize > 0) {
      const error = new TypeError('The bytes end in the middle of an element.')
      fail(controller, error)
      throw error
    }
    end(controller)
  }

  const readInto: ByteStreams['readInto'] = (reader, view, least, request) => {
    const stream = requireStream(reader)
    stream.disturbed = true
    if (stream.state === 'errored') request.error(stream.error)
    else readFrom(stream.controller, view, least, request)
  }

  function readFrom(controller: Controller, view: unknown, least: number, request: ReadRequest): void {
    const { queue, stream } = controller
    const { pulls } = bytesOf(controller)
    const { at, buffer: given, length, name } = partsOf(view)
    const elementSize = sizeOf(name)
    let buffer: ArrayBuffer
    try {
      buffer = transfer(given)
    } catch (error) {
      request.error(error)
      return
    }
    const pull: Pull = {
      ...{ buffer, bufferLength: lengthOf(buffer), at, length, filled: 0, least: least * elementSize },
      ...{ elementSize, kind: name, reader: 'byob' },
    }
    const isKept = queue.total > 0
    const wait = (): void => {
      pulls.push(pull)
      ;(stream.reader as Reader).requests.push(request)
    }
    if (pulls.length > 0) {
      wait()
    } else if (stream.state === 'closed') {
      request.close(viewOf(name, buffer, at, 0))
    } else if (isKept && fill(controller, pull)) {
      const filled = filledView(pull)
      afterTaking(controller)
      request.chunk(filled)
    } else if (isKept && controller.closing) {
      const error = new TypeError('The bytes end in the middle of an element.')
      fail(controller, error)
      request.error(error)
    } else {
      wait()
      pullIfNeeded(controller)
    }
  }

  /** Moves bytes that are kept to where they are asked for. @returns whether these are enough */
  function fill({ queue }: Controller, pull: Pull): boolean {
    const most = pull.filled + Math.min(queue.total, pull.length - pull.filled)
    const aligned = most - (most % pull.elementSize)
    const isEnough = aligned >= pull.least
    const until = isEnough ? aligned : most
    while (pull.filled < until) {
      const entry = queue.first as Entry
      const count = Math.min(until - pull.filled, entry.length)
      copy(pull.buffer, pull.at + pull.filled, entry.buffer, entry.at, count)
      pull.filled += count
      if (count === entry.length) queue.shift()
      else {
        entry.at += count
        entry.length -= count
        queue.shrink(count)
      }
    }
    return isEnough
  }

  /** Fills what is asked for, as far as bytes are kept. @returns what is filled */
  function fillAll(controller: Controller): Chain<Pull> {
    const { pulls } = bytesOf(controller)
    const filled: Chain<Pull> = chain()
    while (pulls.first && controller.queue.total > 0 && fill(controller, pulls.first))
      filled.push(pulls.shift())
    return filled
  }

  function filledView({ at, buffer, elementSize, filled, kind }: Pull): ArrayBufferView {
    return viewOf(kind, transfer(buffer), at, filled / elementSize)
  }

  function give(stream: Readable, pull: Pull): void {
    const request = (stream.reader as Reader).requests.shift()
    const view = filledView(pull)
    if (stream.state === 'closed') request.close(view)
    else request.chunk(view)
  }

  function giveAll(stream: Readable, filled: Chain<Pull>): void {
    while (filled.length > 0) give(stream, filled.shift())
  }

  const requestOf: ByteStreams['requestOf'] = (controller) => {
    const { bytes } = controller
    if (!bytes) return undefined
    const { first } = bytes.pulls
    if (first && !bytes.request) {
      const view = viewOf('Uint8Array', first.buffer, first.at + first.filled, first.length - first.filled)
      const request: BYOBRequest = { controller, view: view as Uint8Array, facade: undefined as never }
      bytes.request = request
      request.facade = new ReadableStreamBYOBRequest(OURS, request)
    }
    return bytes.request
  }

  function invalidate(bytes: Bytes): void {
    if (!bytes.request) return
    bytes.request.controller = undefined
    bytes.request.view = null
    bytes.request = undefined
  }

  function requirePending({ controller }: BYOBRequest): Controller {
    if (controller) return controller
    throw new TypeError('The BYOB request was answered already.')
  }

  const respond: ByteStreams['respond'] = (controller, count) => {
    const first = bytesOf(controller).pulls.first as Pull
    requireCount(controller, count)
    if (first.filled + count > first.length) throw new RangeError('That is more than there was room for.')
    first.buffer = transfer(first.buffer)
    respondTo(controller, first, count)
  }

  const respondWith: ByteStreams['respondWith'] = (controller, view) => {
    const first = bytesOf(controller).pulls.first as Pull
    const { at, buffer, length } = partsOf(view)
    requireCount(controller, length)
    if (at !== first.at + first.filled) throw new RangeError('The view begins elsewhere.')
    if (lengthOf(buffer) !== first.bufferLength) throw new RangeError('The buffer has another length.')
    if (first.filled + length > first.length) throw new RangeError('That is more than there was room for.')
    first.buffer = transfer(buffer)
    respondTo(controller, first, length)
  }

  /** Nothing is written when the stream is closed, and something when it is not. */
  function requireCount({ stream }: Controller, count: number): void {
    if ((stream.state === 'closed') === (count === 0)) return
    throw new TypeError(count > 0 ? 'The stream is closed.' : 'Nothing was written, and the stream is open.')
  }

  function respondTo(controller: Controller, first: Pull, count: number): void {
    const { stream } = controller
    const bytes = bytesOf(controller)
    invalidate(bytes)
    if (stream.state === 'closed') respondAtEnd(stream, bytes, first)
    else respondWhileOpen(controller, first, count)
    pullIfNeeded(controller)
  }

  function respondAtEnd(stream: Readable, { pulls }: Bytes, first: Pull): void {
    if (first.reader === 'none') pulls.shift()
    const { reader } = stream
    while (reader?.byob && reader.requests.length > 0) give(stream, pulls.shift())
  }

  function respondWhileOpen(controller: Controller, first: Pull, count: number): void {
    const { stream } = controller
    first.filled += count
    if (first.reader === 'none') {
      keepWritten(controller, first)
      giveAll(stream, fillAll(controller))
      return
    }
    if (first.filled < first.least) return
    bytesOf(controller).pulls.shift()
    const rest = first.filled % first.elementSize
    if (rest > 0) {
      keepCopy(controller, first.buffer, first.at + first.filled - rest, rest)
      first.filled -= rest
    }
    const filled = fillAll(controller)
    give(stream, first)
    giveAll(stream, filled)
  }

  /** A view that shows something. @throws TypeError for anything else */
  function filledParts(view: unknown): ReturnType<typeof partsOf> {
    const parts = partsOf(view)
    if (parts.length > 0) return parts
    throw new TypeError('The view shows nothing, or its buffer was given away.')
  }

  function acquireOwn(stream: Readable): Reader {
    if (!stream.bytes) throw new TypeError('Only a stream of type "bytes" has such a reader.')
    const reader = acquire(stream, true)
    if (!stream.controller.bytes) becomeBytes(stream.controller, undefined)
    return reader
  }

  return {
    ReadableStreamBYOBReader,
    ReadableByteStreamController,
    ReadableStreamBYOBRequest,
    control: (stream, strategy, { autoAllocateChunkSize, cancel: cancelSource, pull }) => {
      if (strategy.size) throw new RangeError('A stream of bytes has no "size".')
      const mark = markOf(strategy, 0)
      const autoAllocate =
        autoAllocateChunkSize === undefined ? undefined : wholeNumber(autoAllocateChunkSize)
      if (autoAllocate === 0) throw new TypeError('"autoAllocateChunkSize" is at least 1.')
      const controller = createController(stream, { cancel: cancelSource, pull, mark, size: undefined })
      becomeBytes(controller, autoAllocate)
      const facade = new ReadableByteStreamController(OURS, controller)
      controller.pull = () => pull(facade)
      return facade
    },
    readerOf: (stream) => new ReadableStreamBYOBReader(stream.facade),
    ...{ requestOf, respond, respondWith, readInto },
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
