/** Streams of bytes that the library makes and reads itself: bodies of messages, blobs. */
import type { ByteStreams } from '../byte-parts.ts'
import type { Chain } from '../chains.ts'
import { readableCreator } from '../create-readable.ts'
import type { Unit } from '../host.ts'
import type { StreamBodies } from '../stream-exports.ts'
import type { Readable, Readables, StreamCore } from '../stream-parts.ts'
import type { StreamTee } from './stream-tee.ts'

const unit: Unit<StreamBodies & Record<string, unknown>> = (internals) => {
  const { primordials, use } = internals
  const { after, typedArrayName } = primordials
  const { chain, promised, push, shift } = use('stream-core') as unknown as StreamCore
  const { readables } = use('streams') as unknown as { readables: Readables }
  const { acquire, cancel, close, enqueue, fail: failReadable, read, readableOf } = readables
  const createReadable = readableCreator(internals)

  const readAll: StreamBodies['readAll'] = (given, give, fail) => {
    const stream = readableOf(given)
    const reader = acquire(stream)
    const chunks: Chain<Uint8Array> = chain()

    /** Nothing more is read; who asked for it hears why. */
    const refuse = (error: Error): void => {
      void after(cancel(stream, error), undefined, () => {})
      fail(error)
    }
    const end = (): void => {
      try {
        give(joined(chunks, shift))
      } catch (error) {
        fail(error)
      }
    }
    let isAtOnce = false
    const next = (): void => {
      // Chunks that are there already are taken in a loop, however many there are.
      do {
        isAtOnce = false
        let isReading = true
        read(reader, {
          give: (chunk, isEnd) => {
            if (isEnd) {
              end()
              return
            }
            if (typedArrayName(chunk) !== 'Uint8Array') {
              refuse(new TypeError('A body is made of chunks that are each a Uint8Array.'))
              return
            }
            const bytes = chunk as Uint8Array
            push(chunks, bytes, bytes.length)
            if (isReading) isAtOnce = true
            else next()
          },
          fail,
        })
        isReading = false
      } while (isAtOnce)
    }
    next()
  }

  return {
    readAll,
    failStream: (stream, reason) => failReadable(readableOf(stream), reason),
    tee: (stream) => (use('stream-tee') as unknown as StreamTee).tee(readableOf(stream)),
    streamOf: (pull, stopSource) => {
      const next = async (): Promise<void> => {
        let bytes: Uint8Array | undefined
        // Nothing is no chunk: whoever waits goes on waiting.
        do {
          const pulled = pull()
          bytes = typedArrayName(pulled) ? (pulled as Uint8Array) : await pulled
        } while (bytes?.length === 0)
        if (bytes) enqueue(stream, bytes)
        else finish(stream)
      }
      const stream = createReadable(next, (reason) => promised(() => stopSource(reason)), 0, true)
      return stream.facade
    },
  }

  function finish(stream: Readable): void {
    if (stream.bytes) (use('byte-streams') as unknown as ByteStreams).finish(stream)
    else close(stream)
  }
}
export default unit

function joined(chunks: Chain<Uint8Array>, shift: StreamCore['shift']): Uint8Array {
  const bytes = new Uint8Array(chunks.total)
  let at = 0
  while (chunks.length > 0) {
    const chunk = shift(chunks)
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}
