/** One HTTP exchange, without redirects: what a platform gives to `net.fetch`. */
import type { Headers } from './headers.ts'

/** A request that was checked: allowed origin, plain headers. */
export interface HttpRequest {
  readonly url: URL
  readonly method: string
  /** Names in lower case. */
  readonly headers: Headers
  readonly body: Uint8Array | undefined
  /** Bytes of the body that will be read: a transport may not receive more than this over the wire. */
  readonly maxResponseBytes: number
}

export interface HttpResponse {
  readonly status: number
  readonly statusText: string
  readonly headers: Iterable<readonly [name: string, value: string]>
  /** The body, content encodings undone, in pieces of bounded size. To be read at most once. */
  readonly body: AsyncIterable<Uint8Array>
  /** Ends the exchange; what was not read is dropped. */
  close(): void
}

/**
 * Exchanges one request for one response.
 *
 * It connects only to an address that it has checked, follows no redirect, keeps no cookie, adds no credential, uses
 * no cache and no proxy, and stops when `signal` aborts.
 * @throws CaissonError `network_denied`, `network_failed`, `result_too_large`, `aborted`
 */
export type Transport = (request: HttpRequest, signal: AbortSignal) => Promise<HttpResponse>
