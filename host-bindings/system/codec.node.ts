/** Raw deflate by zlib: at once for what is small, in another thread for what is large. */
import { deflateRaw, deflateRawSync, inflateRaw, inflateRawSync, type ZlibOptions } from 'node:zlib'
import { CaissonError } from '../../src/base/errors.ts'
import type { Codec } from '../../src/ports/codec.ts'

/** Takes less than 1 ms; a thread costs a tenth of that to ask. */
const AT_ONCE_BYTES = 65_536

/** Pages of a guest's memory get 10% smaller on the highest level, and take 5 times as long (bench: checkpoint). */
const LEVEL = 1

const MIN_CHUNK_BYTES = 64
const MAX_CHUNK_BYTES = 262_144

/** What `info: true` makes of the result; the types of Node do not say so. */
interface Inflated {
  readonly buffer: Buffer
  readonly engine: { readonly bytesWritten: number }
}

export const nodeCodec: Codec = {
  deflate(bytes) {
    const options: ZlibOptions = { level: LEVEL, chunkSize: chunkFor(bytes.length) }
    if (bytes.length <= AT_ONCE_BYTES) return plain(deflateRawSync(bytes, options))
    return new Promise((resolve, reject) => {
      deflateRaw(bytes, options, (error, buffer) => (error === null ? resolve(plain(buffer)) : reject(error)))
    })
  },

  inflate(bytes, maxBytes) {
    const options: ZlibOptions = {
      info: true,
      chunkSize: chunkFor(maxBytes),
      // Zero would be taken for no limit at all.
      maxOutputLength: Math.max(maxBytes, 1),
    }
    if (maxBytes <= AT_ONCE_BYTES && bytes.length <= AT_ONCE_BYTES) {
      try {
        return whole(inflateRawSync(bytes, options) as unknown as Inflated, bytes.length, maxBytes)
      } catch (error) {
        throw refused(error)
      }
    }
    return new Promise((resolve, reject) => {
      inflateRaw(bytes, options, (error, result) => {
        try {
          if (error !== null) throw error
          resolve(whole(result as unknown as Inflated, bytes.length, maxBytes))
        } catch (cause) {
          reject(refused(cause))
        }
      })
    })
  },
}

function chunkFor(bytes: number): number {
  return Math.min(Math.max(bytes, MIN_CHUNK_BYTES), MAX_CHUNK_BYTES)
}

/** zlib stops at the end of the stream without a word about what follows. */
function whole({ buffer, engine }: Inflated, inputBytes: number, maxBytes: number): Uint8Array {
  if (engine.bytesWritten !== inputBytes) throw new Error('Bytes follow the end of the stream.')
  if (buffer.length > maxBytes) throw new Error('The stream is longer than allowed.')
  return plain(buffer)
}

function refused(cause: unknown): CaissonError {
  if (CaissonError.is(cause)) return cause
  return new CaissonError('corrupted', 'Compressed bytes are damaged or larger than they say.', { cause })
}

/** A window is copied: nothing of the pool of buffers, which other bytes lie in, leaves with it. */
function plain(buffer: Buffer): Uint8Array {
  return buffer.byteLength === buffer.buffer.byteLength
    ? new Uint8Array(buffer.buffer as ArrayBuffer)
    : new Uint8Array(buffer)
}
