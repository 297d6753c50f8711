/**
 * How bytes get from buffer to buffer: those that are kept, those that are given, and those that are asked for.
 *
 * Invariants
 * 1. A buffer that is given is transferred: who gave it can neither see nor change what becomes of it.
 * 2. Nothing is written outside of the part of a buffer that the view showed when it was given.
 */
import type { ByteStreams, Entry } from './byte-parts.ts'
import type { ByteViews } from './byte-views.ts'
import type { Chain, Link } from './chains.ts'
import type {
  BYOBRequest,
  Bytes,
  Pull,
  Readable,
  Readables,
  Reader,
  ReadRequest,
  StreamCore,
} from './stream-parts.ts'

/** What streams of bytes do, but for the objects that guests hold. */
export interface ByteFilling
  extends Pick<
    ByteStreams,
    'take' | 'enqueue' | 'close' | 'release' | 'forget' | 'requestOf' | 'respondWith' | 'readInto'
  > {
  /** Makes a stream fill buffers, from now on. */
  readonly fillBuffers: (stream: Readable, autoAllocate: number | undefined) => void
  /** Takes it that so many bytes were written into what was asked for. */
  readonly respond: (stream: Readable, count: number) => void
}

/** @param facadeOf makes what a guest gets to see of a request */
export function byteFilling(
  { chain, push, shift }: StreamCore,
  { end, fail, pullIfNeeded, requireStream }: Readables,
  { copy, isDetached, lengthOf, partsOf, sizeOf, slice, transfer, viewOf }: ByteViews,
  facadeOf: (request: BYOBRequest) => object,
): ByteFilling {
  const bytesOf = ({ bytes }: Readable): Bytes => bytes as Bytes

  /** Makes a stream fill buffers, from now on. */
  function fillBuffers(stream: Readable, autoAllocate: number | undefined): void {
    const { queue } = stream
    stream.bytes = { pulls: chain(), autoAllocate, request: undefined }
    stream.queue = chain()
    while (queue.length > 0) {
      const { at, buffer, length } = partsOf(shift(queue))
      keep(stream, transfer(buffer), at, length)
    }
  }

  function take(stream: Readable, request: ReadRequest): void {
    if (stream.queue.total > 0) {
      giveFirst(stream, request)
      return
    }
    const { autoAllocate: length, pulls } = bytesOf(stream)
    if (length !== undefined) {
      let buffer: ArrayBuffer
      try {
        buffer = new ArrayBuffer(length)
      } catch (error) {
        request.fail(error)
        return
      }
      const whole = { buffer, bufferLength: length, at: 0, length }
      push(pulls, { ...whole, filled: 0, least: 1, elementSize: 1, kind: 'Uint8Array', reader: 'default' })
    }
    push((stream.reader as Reader).requests, request)
    pullIfNeeded(stream)
  }

  /** Gives the first bytes that are kept. */
  function giveFirst(stream: Readable, request: ReadRequest): void {
    const { at, buffer, length } = shift(stream.queue) as Entry
    afterTaking(stream)
    request.give(viewOf('Uint8Array', buffer, at, length), false)
  }

  function afterTaking(stream: Readable): void {
    if (stream.closing && stream.queue.total === 0) end(stream)
    else pullIfNeeded(stream)
  }

  function keep({ queue }: Readable, buffer: ArrayBuffer, at: number, length: number): void {
    const entry: Entry = { buffer, at, length }
    push(queue, entry, length)
  }

  function keepCopy(stream: Readable, buffer: ArrayBuffer, at: number, length: number): void {
    try {
      keep(stream, slice(buffer, at, at + length), 0, length)
    } catch (error) {
      fail(stream, error)
      throw error
    }
  }

  /** Keeps what was written for a reader that was released meanwhile. */
  function keepWritten(stream: Readable, pull: Pull): void {
    if (pull.filled > 0) keepCopy(stream, pull.buffer, pull.at, pull.filled)
    shift(bytesOf(stream).pulls)
  }

  function enqueue(stream: Readable, chunk: unknown): void {
    const { reader } = stream
    const { pulls } = bytesOf(stream)
    const { at, buffer: given, length } = partsOf(chunk)
    const buffer = transfer(given)
    const pull = pulls.first?.value
    if (pull) {
      if (isDetached(pull.buffer)) throw new TypeError('The buffer of the BYOB request was given away.')
      invalidate(stream)
      pull.buffer = transfer(pull.buffer)
      if (pull.reader === 'none') keepWritten(stream, pull)
    }
    if (reader && !reader.byob) {
      while (reader.requests.length > 0 && stream.queue.total > 0) giveFirst(stream, shift(reader.requests))
      if (reader.requests.length === 0) keep(stream, buffer, at, length)
      else {
        if (pulls.length > 0) shift(pulls)
        shift(reader.requests).give(viewOf('Uint8Array', buffer, at, length), false)
      }
    } else {
      keep(stream, buffer, at, length)
      if (reader) giveAll(stream, fillAll(stream))
    }
  }

  function close(stream: Readable): void {
    const pull = bytesOf(stream).pulls.first?.value
    if (pull && pull.filled % pull.elementSize > 0) {
      const error = new TypeError('The bytes end in the middle of an element.')
      fail(stream, error)
      throw error
    }
    end(stream)
  }

  /** What was read for a reader that is released is kept for the next one. */
  function release(stream: Readable): void {
    const { pulls } = bytesOf(stream)
    const pull = pulls.first?.value
    if (!pull) return
    pull.reader = 'none'
    while (pulls.length > 0) shift(pulls)
    push(pulls, pull)
  }

  function forget(stream: Readable): void {
    const { pulls } = bytesOf(stream)
    invalidate(stream)
    while (pulls.length > 0) shift(pulls)
  }

  const readInto: ByteStreams['readInto'] = (reader, view, least, request) => {
    const stream = requireStream(reader)
    stream.disturbed = true
    if (stream.state === 'errored') request.fail(stream.error)
    else readFrom(stream, view, least, request)
  }

  function readFrom(stream: Readable, view: unknown, least: number, request: ReadRequest): void {
    const { queue } = stream
    const { pulls } = bytesOf(stream)
    const { at, buffer: given, length, name } = partsOf(view)
    const elementSize = sizeOf(name)
    let buffer: ArrayBuffer
    try {
      buffer = transfer(given)
    } catch (error) {
      request.fail(error)
      return
    }
    const pull: Pull = {
      ...{ buffer, bufferLength: lengthOf(buffer), at, length, filled: 0, least: least * elementSize },
      ...{ elementSize, kind: name, reader: 'byob' },
    }
    const wait = (): void => {
      push(pulls, pull)
      push((stream.reader as Reader).requests, request)
    }
    const isKept = queue.total > 0
    if (pulls.length > 0) wait()
    else if (stream.state === 'closed') request.give(viewOf(name, buffer, at, 0), true)
    else if (isKept && fill(stream, pull)) {
      const filled = filledView(pull)
      afterTaking(stream)
      request.give(filled, false)
    } else if (isKept && stream.closing) {
      const error = new TypeError('The bytes end in the middle of an element.')
      fail(stream, error)
      request.fail(error)
    } else {
      wait()
      pullIfNeeded(stream)
    }
  }

  /** Moves bytes that are kept to where they are asked for. @returns whether these are enough */
  function fill({ queue }: Readable, pull: Pull): boolean {
    const most = pull.filled + Math.min(queue.total, pull.length - pull.filled)
    const aligned = most - (most % pull.elementSize)
    const isEnough = aligned >= pull.least
    const until = isEnough ? aligned : most
    while (pull.filled < until) {
      const link = queue.first as Link<Entry>
      const { value: entry } = link
      const count = Math.min(until - pull.filled, entry.length)
      copy(pull.buffer, pull.at + pull.filled, entry.buffer, entry.at, count)
      pull.filled += count
      if (count === entry.length) shift(queue)
      else {
        entry.at += count
        entry.length -= count
        link.size -= count
        queue.total -= count
      }
    }
    return isEnough
  }

  /** Fills what is asked for, as far as bytes are kept. @returns what is filled */
  function fillAll(stream: Readable): Chain<Pull> {
    const { pulls } = bytesOf(stream)
    const filled: Chain<Pull> = chain()
    while (pulls.first && stream.queue.total > 0 && fill(stream, pulls.first.value))
      push(filled, shift(pulls))
    return filled
  }

  function filledView({ at, buffer, elementSize, filled, kind }: Pull): ArrayBufferView {
    return viewOf(kind, transfer(buffer), at, filled / elementSize)
  }

  function give({ reader, state }: Readable, pull: Pull): void {
    shift((reader as Reader).requests).give(filledView(pull), state === 'closed')
  }

  function giveAll(stream: Readable, filled: Chain<Pull>): void {
    while (filled.length > 0) give(stream, shift(filled))
  }

  const requestOf: ByteStreams['requestOf'] = (stream) => {
    const { bytes } = stream
    if (!bytes) return undefined
    const pull = bytes.pulls.first?.value
    if (pull && !bytes.request) {
      const view = viewOf('Uint8Array', pull.buffer, pull.at + pull.filled, pull.length - pull.filled)
      const request: BYOBRequest = { stream, view: view as Uint8Array, facade: stream.facade }
      bytes.request = request
      request.facade = facadeOf(request)
    }
    return bytes.request
  }

  function invalidate(stream: Readable): void {
    const bytes = bytesOf(stream)
    if (!bytes.request) return
    bytes.request.stream = undefined
    bytes.request.view = null
    bytes.request = undefined
  }

  /** What is to be filled first; there is something. */
  const firstPull = (stream: Readable): Pull => bytesOf(stream).pulls.first?.value as Pull

  function respond(stream: Readable, count: number): void {
    const pull = firstPull(stream)
    requireCount(stream, count)
    if (pull.filled + count > pull.length) throw new RangeError('That is more than there was room for.')
    pull.buffer = transfer(pull.buffer)
    respondTo(stream, pull, count)
  }

  function respondWith(stream: Readable, view: unknown): void {
    const pull = firstPull(stream)
    const { at, buffer, length } = partsOf(view)
    requireCount(stream, length)
    if (at !== pull.at + pull.filled) throw new RangeError('The view begins elsewhere.')
    if (lengthOf(buffer) !== pull.bufferLength) throw new RangeError('The buffer has another length.')
    if (pull.filled + length > pull.length) throw new RangeError('That is more than there was room for.')
    pull.buffer = transfer(buffer)
    respondTo(stream, pull, length)
  }

  /** Nothing is written when the stream is closed, and something when it is not. */
  function requireCount({ state }: Readable, count: number): void {
    if ((state === 'closed') === (count === 0)) return
    throw new TypeError(count > 0 ? 'The stream is closed.' : 'Nothing was written, and the stream is open.')
  }

  function respondTo(stream: Readable, pull: Pull, count: number): void {
    invalidate(stream)
    if (stream.state === 'closed') respondAtEnd(stream, pull)
    else respondWhileOpen(stream, pull, count)
    pullIfNeeded(stream)
  }

  function respondAtEnd(stream: Readable, pull: Pull): void {
    const { reader } = stream
    const { pulls } = bytesOf(stream)
    if (pull.reader === 'none') shift(pulls)
    while (reader?.byob && reader.requests.length > 0) give(stream, shift(pulls))
  }

  function respondWhileOpen(stream: Readable, pull: Pull, count: number): void {
    pull.filled += count
    if (pull.reader === 'none') {
      keepWritten(stream, pull)
      giveAll(stream, fillAll(stream))
      return
    }
    if (pull.filled < pull.least) return
    shift(bytesOf(stream).pulls)
    const rest = pull.filled % pull.elementSize
    if (rest > 0) {
      keepCopy(stream, pull.buffer, pull.at + pull.filled - rest, rest)
      pull.filled -= rest
    }
    const filled = fillAll(stream)
    give(stream, pull)
    giveAll(stream, filled)
  }

  return { fillBuffers, take, enqueue, close, release, forget, requestOf, respond, respondWith, readInto }
}
