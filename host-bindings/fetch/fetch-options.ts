/** What an embedder says about `net.fetch`, on every platform. */
import { aFunction, anObject, listOf, type OptionChecks, wholeFrom } from '../../src/base/option-checks.ts'
import type { RetryPolicy } from '../../src/capability/capability.ts'
import type { Headers } from './headers.ts'

/** Methods that a program can be given. */
export type HttpMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'

/** What may be fetched, and how much. The same on every platform. */
export interface FetchOptions {
  /** Patterns of origins, see `allow-list.ts`: `api.example.com`, `*.example.com`, `https://example.com:8443`. */
  readonly allow: readonly string[]
  /**
   * Addresses that are not public and may be connected to all the same: `127.0.0.1:8080`, `[::1]:8080`,
   * `localhost:8080`. Their hosts must be in `allow` too. Default: none.
   */
  readonly allowPrivate?: readonly string[]
  /** Default GET and HEAD, with which the capability counts as `read`; with any other it counts as `write`. */
  readonly methods?: readonly HttpMethod[]
  /** Largest body sent, in bytes, at most 1 GiB. Default 1 MiB. */
  readonly maxRequestBytes?: number
  /** Largest body received, in bytes after inflating, at most 1 GiB. Default 4 MiB. */
  readonly maxResponseBytes?: number
  /** Redirects followed for one call, 0 to 20. Default 5. */
  readonly maxRedirects?: number
  /** Milliseconds for a call with all its redirects and its body; of a body in pieces, for each read. Default 30,000. */
  readonly timeoutMs?: number
  /** Bodies that one guest may read in pieces at a time, 0 to 1,000: the next ones come whole. Default 16. */
  readonly maxOpenBodies?: number
  /** Milliseconds after the last read at which a body that comes in pieces is closed. Default 60,000. */
  readonly idleBodyMs?: number
  /** Only for `read`. Default: no retry. */
  readonly retry?: RetryPolicy
  /** Headers of the embedder for requests to this URL, credentials included; programs never see them. Must not throw. */
  readonly headersFor?: (url: URL) => Headers | undefined
  /** Lets programs bring credentials of their own; dropped when a redirect leads to another origin. Default: none. */
  readonly programHeaders?: readonly 'authorization'[]
}

const GIB = 1024 * 1024 * 1024
const DAY_MS = 86_400_000
const METHODS: readonly unknown[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** For `checkOptions`; a platform adds its own. */
export const FETCH_OPTION_CHECKS: OptionChecks<FetchOptions> = {
  allow: listOf('patterns such as "api.example.com"'),
  allowPrivate: listOf('addresses such as "127.0.0.1:8080"'),
  methods: [
    (value) => Array.isArray(value) && value.length > 0 && value.every((method) => METHODS.includes(method)),
    `a list of ${METHODS.join(', ')}`,
  ],
  maxRequestBytes: wholeFrom(0, GIB),
  maxResponseBytes: wholeFrom(0, GIB),
  maxRedirects: wholeFrom(0, 20),
  timeoutMs: wholeFrom(1, DAY_MS),
  maxOpenBodies: wholeFrom(0, 1_000),
  idleBodyMs: wholeFrom(1, DAY_MS),
  retry: anObject,
  headersFor: aFunction,
  programHeaders: listOf('header names'),
}
