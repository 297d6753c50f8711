/**
 * `net.fetch`: HTTP for programs, to the origins that were granted and no others.
 *
 * 1. Every hop is checked as the first: URL, origin, and (in the transport) the address connected to.
 * 2. What the embedder adds to requests of one origin (`headersFor`) is added at that hop only, never carried on.
 * 3. Sizes are counted where bytes come in, of what they inflate to; time is bounded by the gate's signal.
 */
import { CaissonError } from '../../src/base/errors.ts'
import type { Capability, InvokeContext } from '../../src/capability/capability.ts'
import { defineBinding } from '../define-binding.ts'
import { either, object, record } from '../schema/composites.ts'
import { binary, flag, integer, oneOf, text } from '../schema/scalars.ts'
import { type AllowedOrigin, isAllowed, parseAllowList } from './allow-list.ts'
import type { FetchOptions } from './fetch-options.ts'
import { checkRequestHeaders, type Headers, visibleHeaders } from './headers.ts'
import {
  literalAddress,
  mayConnect,
  type PrivateExceptions,
  parsePrivateExceptions,
} from './public-address.ts'
import { isRedirect, redirectedRequest } from './redirect.ts'
import { MAX_URL_LENGTH, parseRequestUrl } from './request-url.ts'
import { bodyText, collectBody } from './response-body.ts'
import type { HttpRequest, HttpResponse, Transport } from './transport.ts'

/** What a platform adds to the options. */
export interface FetchPlatform {
  readonly transport: (exceptions: PrivateExceptions) => Transport
  readonly isPublicSuffix?: (domain: string) => boolean
}

const MIB = 1024 * 1024
const EXPOSED = ['network_denied', 'network_failed', 'result_too_large', 'denied', 'aborted'] as const

/**
 * The capability `net.fetch` over this platform.
 * @throws CaissonError `invalid_argument` for an impossible pattern; options are checked by then
 */
export function createFetchCapabilities(
  options: FetchOptions,
  platform: FetchPlatform,
): readonly Capability[] {
  const { methods = ['GET', 'HEAD'], maxRequestBytes = MIB, maxResponseBytes = 4 * MIB } = options
  const { maxRedirects = 5, timeoutMs = 30_000, retry } = options
  const exceptions = parsePrivateExceptions(options.allowPrivate ?? [])
  const origins = parseAllowList({ ...options, ...platform })
  for (const origin of origins) requireException(origin, exceptions)
  const fetcher = new Fetcher(options, origins, platform.transport(exceptions), maxRedirects)
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
          as: oneOf(['text', 'bytes'], { description: 'How to give the body. Default text.' }),
          redirect: oneOf(['follow', 'manual', 'error'], { description: 'Default follow.' }),
        },
      ),
      output: object({
        url: text({ maxLength: MAX_URL_LENGTH, description: 'Of the last hop.' }),
        status: integer({ minimum: 100, maximum: 999 }),
        statusText: text({ maxLength: 16_384 }),
        ok: flag({ description: 'Whether the status is 200 to 299.' }),
        redirected: flag(),
        headers: record(text({ maxLength: 65_536 }), { maxProperties: 2_000 }),
        body: either(text({ maxLength: maxResponseBytes }), binary({ maxBytes: maxResponseBytes })),
      }),
      invoke: (input, context) =>
        fetcher.fetch(
          {
            url: parseRequestUrl(input.url),
            method: input.method ?? methods[0] ?? 'GET',
            headers: checkRequestHeaders(input.headers ?? {}, options.programHeaders),
            body: encodeBody(input.body, maxRequestBytes),
            maxResponseBytes,
          },
          { as: input.as ?? 'text', redirect: input.redirect ?? 'follow' },
          context,
        ),
    }),
  ]
}

interface Wanted {
  readonly as: 'text' | 'bytes'
  readonly redirect: 'follow' | 'manual' | 'error'
}

interface Fetched {
  readonly url: string
  readonly status: number
  readonly statusText: string
  readonly ok: boolean
  readonly redirected: boolean
  readonly headers: Headers
  readonly body: string | Uint8Array
}

class Fetcher {
  private readonly options: FetchOptions
  private readonly origins: readonly AllowedOrigin[]
  private readonly transport: Transport
  private readonly maxRedirects: number

  constructor(
    options: FetchOptions,
    origins: readonly AllowedOrigin[],
    transport: Transport,
    maxRedirects: number,
  ) {
    this.options = options
    this.origins = origins
    this.transport = transport
    this.maxRedirects = maxRedirects
  }

  async fetch(
    first: HttpRequest,
    wanted: Wanted,
    { signal }: Pick<InvokeContext, 'signal'>,
  ): Promise<Fetched> {
    if (first.body !== undefined && (first.method === 'GET' || first.method === 'HEAD')) {
      throw new CaissonError('denied', `A ${first.method} request has no body.`)
    }
    let request = first
    for (let hop = 0; hop <= this.maxRedirects; hop++) {
      const response = await this.exchange(request, hop, signal)
      try {
        const headers = visibleHeaders(response.headers)
        const location = headers.location
        if (wanted.redirect === 'manual' || !isRedirect(response.status, location)) {
          return await read(request, response, headers, wanted, hop)
        }
        if (wanted.redirect === 'error') {
          throw new CaissonError(
            'network_failed',
            'The server redirects, and the call asked for an error then.',
          )
        }
        request = redirectedRequest(request, response.status, location)
      } finally {
        response.close()
      }
    }
    throw new CaissonError('network_failed', `More than ${this.maxRedirects} redirects.`)
  }

  private exchange(request: HttpRequest, hop: number, signal: AbortSignal): Promise<HttpResponse> {
    if (!isAllowed(request.url, this.origins)) {
      const what = hop === 0 ? 'The URL' : 'A redirect'
      throw new CaissonError(
        'network_denied',
        `${what} leads to ${request.url.origin}, which is not allowed.`,
        {
          details: { origin: request.url.origin },
        },
      )
    }
    // Credentials of the embedder belong to this hop: they are not part of the request that a redirect inherits.
    const added = Object.entries(this.options.headersFor?.(new URL(request.url)) ?? {})
    const headers = { ...request.headers, ...Object.fromEntries(added.map(([k, v]) => [k.toLowerCase(), v])) }
    return this.transport({ ...request, headers }, signal)
  }
}

async function read(
  request: HttpRequest,
  response: HttpResponse,
  headers: Headers,
  wanted: Wanted,
  hop: number,
): Promise<Fetched> {
  const bytes = await collectBody(response.body, request.maxResponseBytes)
  return {
    url: request.url.href,
    status: response.status,
    statusText: response.statusText,
    ok: response.status >= 200 && response.status <= 299,
    redirected: hop > 0,
    headers,
    body: wanted.as === 'bytes' ? bytes : bodyText(bytes, headers['content-type']),
  }
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
