/** The body of a response with its content encoding undone, counted on both sides of the inflater. */
import type { IncomingMessage } from 'node:http'
import { pipeline, Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { CaissonError } from '../../../src/base/errors.ts'
import { bodyTooLarge } from '../response-body.ts'
import type { HttpRequest } from '../transport.ts'

/**
 * The inflated body, in pieces of at most 16 KiB where it was compressed: whoever counts them stops a bomb early.
 * @throws CaissonError `result_too_large` where more than the request's limit comes over the wire, `network_failed`
 *   for an encoding that was not asked for
 */
export async function* decodedBody(
  message: IncomingMessage,
  request: HttpRequest,
): AsyncIterable<Uint8Array> {
  const wire = counted(message, request.maxResponseBytes)
  const inflater = hasNoBody(message, request) ? undefined : inflaterFor(message.headers['content-encoding'])
  if (inflater === undefined) {
    yield* wire
    return
  }
  // The error reaches the reader through the inflater, which the pipeline destroys with it.
  pipeline(Readable.from(wire, { objectMode: false }), inflater, () => {})
  yield* inflater as AsyncIterable<Uint8Array>
}

async function* counted(message: IncomingMessage, maxBytes: number): AsyncIterable<Uint8Array> {
  let length = 0
  for await (const chunk of message as AsyncIterable<Uint8Array>) {
    length += chunk.byteLength
    if (length > maxBytes) throw bodyTooLarge(maxBytes)
    yield chunk
  }
}

function hasNoBody(message: IncomingMessage, { method }: HttpRequest): boolean {
  return method === 'HEAD' || message.statusCode === 204 || message.statusCode === 304
}

function inflaterFor(encoding: string | undefined): Transform | undefined {
  switch (encoding?.trim().toLowerCase() ?? '') {
    case '':
    case 'identity':
      return undefined
    case 'gzip':
    case 'x-gzip':
      return createGunzip()
    case 'deflate':
      return createInflate()
    case 'br':
      return createBrotliDecompress()
    default:
      // Also lists such as "gzip, gzip": bombs in bombs.
      throw new CaissonError('network_failed', 'The response has a content encoding that was not asked for.')
  }
}
