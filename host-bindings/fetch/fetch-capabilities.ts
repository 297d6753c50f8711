/**
 * `net.fetch` and `net.readBody`: HTTP for programs, to the origins that were granted and no others.
 *
 * 1. Sizes are counted where bytes come in, of what they inflate to; time is bounded by the gate's signal.
 * 2. A body that is read in pieces is the guest's that asked for it, and lives no longer than that (`open-bodies.ts`).
 * 3. Whether a body comes in pieces or whole never decides whether there is one: where a guest has too many open, the
 *    next ones come whole.
 */
import { sha256 } from '../../src/base/digest.ts'
import { CaissonError } from '../../src/base/errors.ts'
import type { Capability } from '../../src/capability/capability.ts'
import { defineBinding } from '../define-binding.ts'
import { either, object, record } from '../schema/composites.ts'
import { binary, flag, integer, oneOf, text } from '../schema/scalars.ts'
import { type AllowedOrigin, parseAllowList } from './allow-list.ts'
import type { FetchOptions } from './fetch-options.ts'
import { Fetcher } from './fetcher.ts'
import { checkRequestHeaders } from './headers.ts'
import { OpenBodies } from './open-bodies.ts'
import {
  literalAddress,
  mayConnect,
  type PrivateExceptions,
  parsePrivateExceptions,
} from './public-address.ts'
import { MAX_URL_LENGTH, parseRequestUrl } from './request-url.ts'
import { CHUNK_BYTES } from './streamed-body.ts'
import type { Transport } from './transport.ts'

/** What a platform adds to the options. */
export interface FetchPlatform {
  readonly transport: (exceptions: PrivateExceptions) => Transport
  readonly isPublicSuffix?: (domain: string) => boolean
}

const MIB = 1024 * 1024
const EXPOSED = ['network_denied', 'network_failed', 'result_too_large', 'denied', 'aborted'] as const
const EXPOSED_OF_BODIES = ['network_failed', 'result_too_large', 'body_lost', 'aborted'] as const
const MAX_STREAM_LENGTH = 64

/**
 * The capabilities `net.fetch` and `net.readBody` over this platform.
 * @throws CaissonError `invalid_argument` for an impossible pattern; options are checked by then
 */
export function createFetchCapabilities(
  options: FetchOptions,
  platform: FetchPlatform,
): readonly Capability[] {
  const { methods = ['GET', 'HEAD'], maxRequestBytes = MIB, maxResponseBytes = 4 * MIB } = options
  const { maxRedirects = 5, timeoutMs = 30_000, retry } = options
  const { maxOpenBodies = 16, idleBodyMs = 60_000 } = options
  const exceptions = parsePrivateExceptions(options.allowPrivate ?? [])
  const origins = parseAllowList({ ...options, ...platform })
  for (const origin of origins) requireException(origin, exceptions)
  const fetcher = new Fetcher({ options, origins, transport: platform.transport(exceptions), maxRedirects })
  const bodies = new OpenBodies({ most: maxOpenBodies, idleMs: idleBodyMs })
  const readOnly = methods.every((method) => method === 'GET' || method === 'HEAD')

  return [
    defineBinding({
      name: 'net.fetch',
      description: `HTTP request: \`const { status, ok, headers, body } = await net.fetch({ url })\`. The body is text, or a Uint8Array with \`as: "bytes"\`; header names are in lower case. Statuses such as 404 or 429 are answers, not errors. Allowed: ${summary(options.allow)}. Methods: ${methods.join(', ')}.`,
      effect: readOnly ? 'read' : 'write',
      timeoutMs,
      ...(retry !== undefined && { retry }),
      expose: EXPOSED,
      input: object(
        { url: text({ minLength: 1, maxLength: MAX_URL_LENGTH, description: 'Absolute http(s) URL.' }) },
        {
          method: oneOf(methods, { description: 'Default GET.' }),
          headers: record(text({ maxLength: 16_384 }), { maxProperties: 64 }),
          body: either(text({ maxLength: maxRequestBytes }), binary({ maxBytes: maxRequestBytes })),
          as: oneOf(['text', 'bytes', 'stream'], {
            description: 'How to give the body. Default text. For stream see net.readBody.',
          }),
          redirect: oneOf(['follow', 'manual', 'error'], { description: 'Default follow.' }),
        },
      ),
      output: object(
        {
          url: text({ maxLength: MAX_URL_LENGTH, description: 'Of the last hop.' }),
          status: integer({ minimum: 100, maximum: 999 }),
          statusText: text({ maxLength: 16_384 }),
          ok: flag({ description: 'Whether the status is 200 to 299.' }),
          redirected: flag(),
          headers: record(text({ maxLength: 65_536 }), { maxProperties: 2_000 }),
          body: either(text({ maxLength: maxResponseBytes }), binary({ maxBytes: maxResponseBytes })),
        },
        {
          stream: text({
            maxLength: MAX_STREAM_LENGTH,
            description: 'Where it is there, body is empty, and net.readBody gives it.',
          }),
        },
      ),
      invoke: (input, { life, idempotencyKey, signal }) =>
        fetcher.fetch(
          {
            url: parseRequestUrl(input.url),
            method: input.method ?? methods[0] ?? 'GET',
            headers: checkRequestHeaders(input.headers ?? {}, options.programHeaders),
            body: encodeBody(input.body, maxRequestBytes),
            maxResponseBytes,
          },
          {
            as: input.as === 'bytes' || input.as === 'stream' ? 'bytes' : 'text',
            redirect: input.redirect ?? 'follow',
            ...(input.as === 'stream' && {
              keeper: {
                hasRoom: () => bodies.hasRoom(life),
                keep: (body) => {
                  const stream = streamName(idempotencyKey)
                  bodies.add(life, stream, body)
                  return stream
                },
              },
            }),
          },
          signal,
        ),
    }),
    defineBinding({
      name: 'net.readBody',
      continues: 'net.fetch',
      description: `Reads the body of a net.fetch({ url, as: "stream" }) as it comes in: \`const { bytes, done } = await net.readBody({ stream, offset })\`, with the number of bytes that were read before as offset. It gives what has come, at most ${CHUNK_BYTES} bytes, and waits for at least one; \`want: "rest"\` gives everything that follows at once, \`want: "nothing"\` closes the body. Bodies are gone when the program ends or is parked, or ${idleBodyMs / 1_000} s after the last read.`,
      effect: 'read',
      timeoutMs,
      expose: EXPOSED_OF_BODIES,
      input: object(
        {
          stream: text({ minLength: 1, maxLength: MAX_STREAM_LENGTH, description: 'As net.fetch gave it.' }),
          offset: integer({ minimum: 0, maximum: 1024 * MIB, description: 'Bytes that were read before.' }),
        },
        { want: oneOf(['chunk', 'rest', 'nothing'], { description: 'Default chunk.' }) },
      ),
      output: object({
        bytes: binary({ maxBytes: Math.max(maxResponseBytes, CHUNK_BYTES) }),
        done: flag({ description: 'Whether nothing follows.' }),
      }),
      invoke: ({ stream, offset, want }, { life, signal }) => {
        if (want !== 'nothing') return bodies.read(life, stream, { offset, whole: want === 'rest', signal })
        bodies.close(life, stream)
        return { bytes: new Uint8Array(0), done: true }
      },
    }),
  ]
}

/** Equal for every attempt at the same call, different for all calls of all guests, and says nothing of either. */
function streamName(idempotencyKey: string): string {
  return sha256(new TextEncoder().encode(`net.fetch ${idempotencyKey}`)).slice('sha256:'.length, 39)
}

function encodeBody(body: string | Uint8Array | undefined, maxBytes: number): Uint8Array | undefined {
  if (typeof body !== 'string') return body
  const bytes = new TextEncoder().encode(body)
  if (bytes.byteLength <= maxBytes) return bytes
  throw new CaissonError('denied', `The request body has more than ${maxBytes} bytes.`)
}

/** An address written out in `allow` that could never be connected to is a mistake; say so at once. */
function requireException(origin: AllowedOrigin, exceptions: PrivateExceptions): void {
  const address = literalAddress(origin.hostname)
  if (address === undefined || typeof origin.port !== 'number') return
  if (mayConnect(address, origin.port, exceptions)) return
  const text = `${origin.hostname}:${origin.port}`
  throw new CaissonError(
    'invalid_argument',
    `The allowed address ${text} is not public; if it is meant, list it in allowPrivate too: ["${text}"].`,
  )
}

function summary(patterns: readonly string[]): string {
  if (patterns.length === 0) return 'nothing'
  const shown = patterns.slice(0, 20).join(', ')
  return patterns.length > 20 ? `${shown} and ${patterns.length - 20} more` : shown
}
