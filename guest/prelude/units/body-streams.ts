/**
 * Bodies as streams: made when a guest asks for one, since most bodies are read whole.
 *
 * A stream holds nothing back: what was not read of it costs nothing, and is not asked of the host.
 */
import type { Unit } from '../host.ts'
import type { StreamBodies } from '../stream-exports.ts'

/** What gives its bytes piece by piece: a body that the host has. */
export interface PiecewiseBody {
  /** The next bytes, in a buffer of their own; undefined at the end. */
  readonly next: () => Promise<Uint8Array | undefined>
  /** All that follow. */
  readonly rest: () => Promise<Uint8Array>
  /** Nothing more is wanted. */
  readonly cancel: () => void
  /** Calls `act` when it fails while nobody reads of it. */
  readonly onFail: (act: (reason: unknown) => void) => void
}

/** What bodies and blobs need of it. */
export interface BodyStreamExports {
  /** A stream of these bytes, which it does not keep anybody from reading. */
  readonly streamOfBytes: (bytes: Uint8Array) => object
  readonly streamOfPieces: (body: PiecewiseBody) => object
  /** A stream of what another one gives; nobody else can read that one any more. */
  readonly streamThrough: (stream: object) => object
  /** The stream of a body that was read whole. */
  readonly spentStream: () => object
}

const PIECE = 65_536

interface Reader {
  read(): Promise<{ done: boolean; value: unknown }>
  cancel(reason: unknown): Promise<void>
}

const unit: Unit<BodyStreamExports & Record<string, unknown>> = ({ use }) => {
  const { failStream, readAll, streamOf } = use('stream-bodies') as unknown as StreamBodies

  function streamOfBytes(bytes: Uint8Array): object {
    let at = 0
    return streamOf(
      () => {
        if (at >= bytes.length) return undefined
        const piece = bytes.slice(at, at + PIECE)
        at += piece.length
        return piece
      },
      () => {},
    )
  }

  function streamOfPieces({ next, cancel, onFail }: PiecewiseBody): object {
    const stream = streamOf(next, cancel)
    onFail((reason) => failStream(stream, reason))
    return stream
  }

  function streamThrough(stream: object): object {
    const reader = (stream as { getReader(): Reader }).getReader()
    return streamOf(
      async () => {
        const { done, value } = await reader.read()
        if (done) return undefined
        if (value instanceof Uint8Array) return value.slice()
        const error = new TypeError('A body is made of Uint8Arrays.')
        void reader.cancel(error).catch(() => {})
        throw error
      },
      (reason) => reader.cancel(reason),
    )
  }

  function spentStream(): object {
    const stream = streamOf(
      async () => undefined,
      () => {},
    )
    readAll(
      stream,
      () => {},
      () => {},
    )
    return stream
  }

  return {
    streamOfBytes,
    streamOfPieces,
    streamThrough,
    spentStream,
  }
}
export default unit
