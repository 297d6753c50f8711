/** Streams of bytes that the library makes and reads itself: bodies of messages, blobs. */
import type { Unit } from '../host.ts'
import type { StreamExports } from '../stream-exports.ts'
import type { Chain, Readable, Readables, StreamCore } from '../stream-parts.ts'

/** What `streams` needs of it. */
export interface StreamBodies extends Pick<StreamExports, 'streamOf'> {
  readonly readAll: (stream: Readable, most?: number) => Promise<Uint8Array>
}

const unit: Unit<StreamBodies & Record<string, unknown>> = ({ primordials, use }) => {
  const { after, typedArrayName } = primordials
  const { chain, defer, promised } = use('stream-core') as unknown as StreamCore
  const { readables } = use('streams') as unknown as { readables: Readables }
  const { acquire, cancel, createReadable, read } = readables

  function readAll(stream: Readable, most = 1 / 0): Promise<Uint8Array> {
    const done = defer()
    const reader = acquire(stream)
    const chunks: Chain<Uint8Array> = chain()

    /** Nothing more is read; who asked for it hears why. */
    const refuse = (error: Error): void => {
      after(cancel(stream, error), undefined, () => {})
      done.reject(error)
    }
    let isAtOnce = false
    const next = (): void => {
      // Chunks that are there already are taken in a loop, however many there are.
      do {
        isAtOnce = false
        let isReading = true
        read(reader, {
          chunk: (chunk) => {
            if (typedArrayName(chunk) !== 'Uint8Array') {
              refuse(new TypeError('A body is made of chunks that are each a Uint8Array.'))
              return
            }
            const bytes = chunk as Uint8Array
            chunks.push(bytes, bytes.length)
            if (chunks.total > most) refuse(new RangeError(`The body has more than ${most} bytes.`))
            else if (isReading) isAtOnce = true
            else next()
          },
          close: () => done.resolve(promised(() => joined(chunks))),
          error: (reason) => done.reject(reason),
        })
        isReading = false
      } while (isAtOnce)
    }
    next()
    return done.promise as Promise<Uint8Array>
  }

  return {
    readAll,
    streamOf: (pull, stopSource) => {
      const next = (): Promise<unknown> =>
        after(promised(pull), (bytes) => {
          const { controller } = stream
          if (bytes === undefined) controller.finish()
          // Nothing is no chunk: whoever waits goes on waiting.
          else if ((bytes as Uint8Array).length === 0) return next()
          else controller.enqueue(bytes as never)
          return undefined
        })
      const stream = createReadable({
        ...{ mark: 0, bytes: true, size: undefined, start: undefined },
        pull: next,
        cancel: (reason) => promised(() => stopSource(reason)),
      })
      return stream.facade
    },
  }
}
export default unit

function joined(chunks: Chain<Uint8Array>): Uint8Array {
  const bytes = new Uint8Array(chunks.total)
  let at = 0
  while (chunks.length > 0) {
    const chunk = chunks.shift()
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}
