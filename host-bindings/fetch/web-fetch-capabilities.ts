/** `net.fetch` in pages, workers and edge runtimes. See `web-transport.ts` for what cannot be promised there. */
import type { Capability } from '../../src/capability/capability.ts'
import { createFetchCapabilities, type FetchOptions } from './fetch-capabilities.ts'
import { createWebTransport, type WebPlatform } from './web-transport.ts'

export interface WebFetchOptions extends FetchOptions {
  /** Default `browser`. */
  readonly platform?: WebPlatform
  /** Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch
  /** Needed for patterns with `*`; `public-suffix.ts` has one (50 KB compressed). */
  readonly isPublicSuffix?: (domain: string) => boolean
}

/**
 * The capability `net.fetch`.
 * @throws CaissonError `invalid_argument`
 */
export function createWebFetchCapabilities(options: WebFetchOptions): readonly Capability[] {
  const { platform = 'browser', isPublicSuffix } = options
  return createFetchCapabilities(options, {
    transport: (exceptions) => createWebTransport(exceptions, platform, options.fetch),
    ...(isPublicSuffix !== undefined && { isPublicSuffix }),
  })
}
