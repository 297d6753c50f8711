/** Readable streams that the library makes. */
import type { Internals } from './host.ts'
import type { Algorithm, Measure, Readable, Readables, StreamCore } from './stream-parts.ts'

/** A stream that works by these; it begins when `start` is fulfilled. */
export type CreateReadable = (
  pull: Algorithm,
  cancel: Algorithm,
  mark: number,
  isOfBytes: boolean,
  size?: Measure,
  start?: Promise<unknown>,
) => Readable

/** What makes them. It is in the units that do, so that those that do not need not parse it. */
export function readableCreator({ use }: Internals): CreateReadable {
  const { OURS } = use('stream-core') as unknown as StreamCore
  const { ReadableStream, readables } = use('streams') as unknown as {
    readables: Readables
    ReadableStream: new (ours: object, stream: Readable) => object
  }
  return (pull, cancel, mark, isOfBytes, size, start) => {
    const stream = readables.stateOf(pull, cancel, mark, isOfBytes, size)
    stream.facade = new ReadableStream(OURS, stream)
    readables.begin(stream, start)
    return stream
  }
}
