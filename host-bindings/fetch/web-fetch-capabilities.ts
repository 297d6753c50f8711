/** `net.fetch` in pages, workers and edge runtimes. See `web-transport.ts` for what cannot be promised there. */
import { aFunction, checkOptions, type OptionChecks, oneOf } from '../../src/base/option-checks.ts'
import type { Capability } from '../../src/capability/capability.ts'
import { createFetchCapabilities } from './fetch-capabilities.ts'
import { FETCH_OPTION_CHECKS, type FetchOptions } from './fetch-options.ts'
import { createWebTransport, type WebPlatform } from './web-transport.ts'

export interface WebFetchOptions extends FetchOptions {
  /** Default `browser`. */
  readonly platform?: WebPlatform
  /** Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch
  /** Needed for patterns with `*`: `isPublicSuffix` of `caisson/bindings` (50 KB compressed), or another list. */
  readonly isPublicSuffix?: (domain: string) => boolean
}

const OPTIONS: OptionChecks<WebFetchOptions> = {
  ...FETCH_OPTION_CHECKS,
  platform: oneOf('browser', 'edge'),
  fetch: aFunction,
  isPublicSuffix: aFunction,
}

/**
 * The capability `net.fetch`.
 * @throws CaissonError `invalid_argument`
 */
export function createWebFetchCapabilities(options: WebFetchOptions): readonly Capability[] {
  checkOptions(options, OPTIONS, ['allow'])
  const { platform = 'browser', isPublicSuffix } = options
  return createFetchCapabilities(options, {
    transport: (exceptions) => createWebTransport(exceptions, platform, options.fetch),
    ...(isPublicSuffix !== undefined && { isPublicSuffix }),
  })
}
