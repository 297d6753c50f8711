/** How a `ReadableStream` ends before its last chunk was read, and how a reader lets go of it. */
import type { ByteStreams } from '../byte-parts.ts'
import type { Unit } from '../host.ts'
import type { Readable, Readables, Reader, StreamCore } from '../stream-parts.ts'

/** What `streams` needs of it. */
export interface StreamEnds {
  readonly cancel: (stream: Readable, reason: unknown) => Promise<unknown>
  /** Ends it with a reason, if it is readable. */
  readonly fail: (stream: Readable, reason: unknown) => void
  readonly release: (reader: Reader) => void
}

const unit: Unit<StreamEnds & Record<string, unknown>> = ({ primordials, use }) => {
  const { after, rejected, resolved } = primordials
  const { chain, refuse } = use('stream-core') as unknown as StreamCore
  const { readables } = use('streams') as unknown as { readables: Readables }
  const { answer, closeStream, stop } = readables
  const bytes = (): ByteStreams => use('byte-streams') as unknown as ByteStreams

  return {
    cancel: (stream, reason) => {
      const { cancel, reader, state } = stream
      stream.disturbed = true
      if (state === 'closed') return resolved()
      if (state === 'errored') return rejected(stream.error)
      closeStream(stream)
      if (reader) answer(reader, (request) => request.give(undefined, true))
      if (stream.bytes) bytes().forget(stream)
      stream.queue = chain()
      const cancelled = cancel(reason)
      stop(stream)
      return after(cancelled, () => {})
    },
    fail: (stream, reason) => {
      const { reader, state } = stream
      if (state !== 'readable') return
      stream.state = 'errored'
      stream.error = reason
      if (stream.bytes) bytes().forget(stream)
      stop(stream)
      if (!reader) return
      reader.closed = refuse(reader.closed, reason)
      answer(reader, (request) => request.fail(reason))
    },
    release: (reader) => {
      const { stream } = reader
      if (!stream) return
      const gone = new TypeError('The reader was released.')
      reader.closed = refuse(reader.closed, gone)
      if (stream.bytes) bytes().release(stream)
      stream.reader = reader.stream = undefined
      answer(reader, (request) => request.fail(gone))
    },
  }
}
export default unit
