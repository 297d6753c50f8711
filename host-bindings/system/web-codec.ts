/** Raw deflate by the platform's compression streams: in every runtime. */
import { concatBytes } from '../../src/base/bytes.ts'
import { CaissonError } from '../../src/base/errors.ts'
import type { Codec } from '../../src/ports/codec.ts'
import { pause } from './pause.ts'

/** Browsers compress in the thread that asks, one piece at a time: a piece takes about a millisecond. */
const DEFLATE_PIECE_BYTES = 32_768

/** A piece of hostile input expands to at most 1,032 times its size before anybody can look at it. */
const INFLATE_PIECE_BYTES = 2_048

/** Pieces between two pauses. */
const INFLATE_PIECES = 8

export const webCodec: Codec = {
  deflate: (bytes) =>
    through(new CompressionStream('deflate-raw'), bytes, DEFLATE_PIECE_BYTES, 1, Number.POSITIVE_INFINITY),

  async inflate(bytes, maxBytes) {
    try {
      return await through(
        new DecompressionStream('deflate-raw'),
        bytes,
        INFLATE_PIECE_BYTES,
        INFLATE_PIECES,
        maxBytes,
      )
    } catch (cause) {
      throw new CaissonError('corrupted', 'Compressed bytes are damaged or larger than they say.', { cause })
    }
  },
}

/** What the stream makes of `bytes`. Rejects, having stopped the stream, when that is more than `maxBytes`. */
async function through(
  stream: CompressionStream | DecompressionStream,
  bytes: Uint8Array,
  pieceBytes: number,
  piecesAtOnce: number,
  maxBytes: number,
): Promise<Uint8Array> {
  const writer = stream.writable.getWriter()
  const reader = (stream.readable as ReadableStream<Uint8Array>).getReader()
  const written = write(writer, bytes, pieceBytes, piecesAtOnce)
  // Whoever reads learns of the same failure.
  written.catch(() => undefined)
  const pieces: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    length += value.length
    if (length > maxBytes) {
      const error = new Error('The stream is longer than allowed.')
      await Promise.allSettled([reader.cancel(error), writer.abort(error)])
      throw error
    }
    pieces.push(value)
  }
  await written
  return concatBytes(pieces, length)
}

async function write(
  writer: WritableStreamDefaultWriter<BufferSource>,
  bytes: Uint8Array,
  pieceBytes: number,
  piecesAtOnce: number,
): Promise<void> {
  for (let at = 0, piece = 0; at < bytes.length; at += pieceBytes, piece += 1) {
    if (piece > 0 && piece % piecesAtOnce === 0) await pause()
    // A copy: streams take bytes over, and none of shared memory.
    await writer.write(bytes.slice(at, at + pieceBytes))
  }
  await writer.close()
}
