/**
 * HTTP over `node:http` and `node:https`, connected only to addresses that were checked.
 *
 * 1. A name is resolved once, by us; all its addresses are checked; the connection uses exactly these. A name that
 *    changes its mind between check and connection (DNS rebinding) is connected to what it was when checked.
 * 2. One forbidden address among many refuses the whole name.
 * 3. A connection serves one request: no pool that a later request, checked otherwise, could find open.
 * 4. Environment variables for proxies are not read: the address that was checked is the one that is asked.
 */
import { lookup } from 'node:dns/promises'
import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { CaissonError } from '../../../src/base/errors.ts'
import { portOf } from '../allow-list.ts'
import { canonicalAddress, literalAddress, mayConnect, type PrivateExceptions } from '../public-address.ts'
import type { HttpRequest, HttpResponse, Transport } from '../transport.ts'
import { decodedBody } from './decoded-body.node.ts'
import { networkFailure } from './network-failure.node.ts'

/** All addresses of a name, as text. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

const MAX_ADDRESSES = 64
const MAX_HEADER_BYTES = 32_768

export interface NodeTransportOptions {
  /** Default: the system's resolver, hosts file included. What it answers is checked in any case. */
  readonly resolve?: Resolve
  /** PEM certificates of the authorities to trust instead of those that come with Node. */
  readonly certificateAuthorities?: readonly string[]
}

/** A transport that may also connect to `exceptions`. */
export function createNodeTransport(
  exceptions: PrivateExceptions,
  options: NodeTransportOptions = {},
): Transport {
  const { resolve = resolveBySystem, certificateAuthorities } = options
  return async (request, signal) => {
    const addresses = await unlessAborted(signal, () => checkedAddresses(request.url, exceptions, resolve))
    const message = await exchange(request, addresses, signal, certificateAuthorities)
    return toResponse(message, request, signal)
  }
}

async function resolveBySystem(hostname: string): Promise<readonly string[]> {
  const found = await lookup(hostname, { all: true, verbatim: true })
  return found.map(({ address }) => address)
}

async function checkedAddresses(
  url: URL,
  exceptions: PrivateExceptions,
  resolve: Resolve,
): Promise<readonly string[]> {
  const literal = literalAddress(url.hostname)
  const found = literal === undefined ? await resolveName(url.hostname, resolve) : [literal]
  const addresses: string[] = []
  for (const address of found) {
    const canonical = canonicalAddress(address)
    if (canonical === undefined || !mayConnect(canonical, portOf(url), exceptions)) {
      throw new CaissonError(
        'network_denied',
        `The host "${url.hostname}" has an address that is not public (or not a plain IP address).`,
        { details: { host: url.hostname } },
      )
    }
    addresses.push(canonical)
  }
  return addresses
}

async function resolveName(hostname: string, resolve: Resolve): Promise<readonly string[]> {
  let addresses: readonly string[]
  try {
    addresses = await resolve(hostname)
  } catch (error) {
    throw networkFailure(error, `The name "${hostname}" could not be resolved`)
  }
  if (addresses.length === 0 || addresses.length > MAX_ADDRESSES) {
    throw new CaissonError('network_failed', `The name "${hostname}" has no address, or too many.`)
  }
  return addresses
}

function exchange(
  request: HttpRequest,
  addresses: readonly string[],
  signal: AbortSignal,
  certificateAuthorities: readonly string[] | undefined,
): Promise<IncomingMessage> {
  const { url } = request
  const open = url.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => {
      reject(
        signal.aborted ? abortedBy(signal) : networkFailure(error, `The request to ${url.origin} failed`),
      )
    }
    const sent: ClientRequest = open({
      protocol: url.protocol,
      hostname: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: portOf(url),
      path: `${url.pathname}${url.search}`,
      method: request.method,
      headers: requestHeaders(request),
      agent: false,
      lookup: pinnedLookup(addresses),
      maxHeaderSize: MAX_HEADER_BYTES,
      insecureHTTPParser: false,
      ...(certificateAuthorities !== undefined && { ca: [...certificateAuthorities] }),
      signal,
    })
    sent.on('error', fail)
    sent.on('response', resolve)
    sent.on('upgrade', (_response, socket) => {
      socket.destroy()
      fail(new CaissonError('network_failed', 'The server changed to another protocol.'))
    })
    sent.on('socket', (socket) => {
      // Invariant 1 once more, from the other end: whatever happened in between, this is who answers.
      socket.once('connect', () => {
        const peer = canonicalAddress(socket.remoteAddress ?? '')
        if (peer !== undefined && addresses.includes(peer)) return
        sent.destroy(
          new CaissonError('network_denied', 'The connection led to an address that was not checked.'),
        )
      })
    })
    sent.end(request.body)
  })
}

function requestHeaders({ headers, body, method }: HttpRequest): Record<string, string> {
  const length = body?.byteLength ?? (method === 'GET' || method === 'HEAD' ? undefined : 0)
  return {
    accept: '*/*',
    'user-agent': 'caisson',
    ...(body !== undefined && { 'content-type': 'text/plain;charset=UTF-8' }),
    ...headers,
    'accept-encoding': 'gzip, br',
    ...(length !== undefined && { 'content-length': String(length) }),
  }
}

/** Answers every look-up of the socket with the addresses that were checked. */
function pinnedLookup(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_hostname, options, callback) => {
    const first = all[0]
    if (options.all) callback(null, all)
    else if (first !== undefined) callback(null, first.address, first.family)
  }
}

function toResponse(message: IncomingMessage, request: HttpRequest, signal: AbortSignal): HttpResponse {
  // Whoever closes early does not want to hear how it ended.
  message.on('error', () => {})
  return {
    status: message.statusCode ?? 0,
    statusText: message.statusMessage ?? '',
    headers: headerPairs(message.rawHeaders),
    body: translated(decodedBody(message, request), request.url, signal),
    close: () => message.destroy(),
  }
}

async function* translated(
  body: AsyncIterable<Uint8Array>,
  url: URL,
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  try {
    yield* body
  } catch (error) {
    throw signal.aborted
      ? abortedBy(signal)
      : networkFailure(error, `The response of ${url.origin} broke off`)
  }
}

function* headerPairs(raw: readonly string[]): Iterable<readonly [string, string]> {
  for (let index = 0; index + 1 < raw.length; index += 2) yield [raw[index] ?? '', raw[index + 1] ?? '']
}

/** Gives up on a look-up, which cannot be cancelled, as soon as the call is aborted. */
function unlessAborted<T>(signal: AbortSignal, act: () => Promise<T>): Promise<T> {
  if (signal.aborted) return Promise.reject(abortedBy(signal))
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(abortedBy(signal))
    signal.addEventListener('abort', abort, { once: true })
    act()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', abort))
  })
}

function abortedBy(signal: AbortSignal): CaissonError {
  return new CaissonError('aborted', 'The request was aborted.', { cause: signal.reason })
}
