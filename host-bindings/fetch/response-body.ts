/** Reads a body up to a cap, and text out of bytes. */
import { CaissonError } from '../../src/base/errors.ts'

const FIRST_BUFFER_BYTES = 16_384

/**
 * The whole body. Stops reading at the first byte too many.
 * @throws CaissonError `result_too_large` with `details: { limit }`, and what the body throws
 */
export async function collectBody(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  // One buffer that doubles, not a list of chunks: a body of single-byte chunks would cost a hundred times its size.
  let buffer = new Uint8Array(Math.min(maxBytes, FIRST_BUFFER_BYTES))
  let length = 0
  for await (const chunk of body) {
    const needed = length + chunk.byteLength
    if (needed > maxBytes) throw bodyTooLarge(maxBytes)
    if (needed > buffer.byteLength) {
      const larger = new Uint8Array(Math.min(maxBytes, Math.max(needed, buffer.byteLength * 2)))
      larger.set(buffer.subarray(0, length))
      buffer = larger
    }
    buffer.set(chunk, length)
    length = needed
  }
  return buffer.slice(0, length)
}

/** The refusal of a body above `maxBytes`, for transports that notice first. */
export function bodyTooLarge(maxBytes: number): CaissonError {
  return new CaissonError('result_too_large', `The response body has more than ${maxBytes} bytes.`, {
    details: { limit: maxBytes },
  })
}

/** Text by the charset that the content type names; UTF-8 where it names none that is known. */
export function bodyText(bytes: Uint8Array, contentType: string | undefined): string {
  const charset = /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i.exec(contentType ?? '')?.[1] ?? 'utf-8'
  return decoderFor(charset).decode(bytes)
}

function decoderFor(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset)
  } catch {
    return new TextDecoder()
  }
}
