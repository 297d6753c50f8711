/** `net.fetch` on Node: with everything that `fetch-capabilities.ts` and `node-transport.node.ts` promise. */
import { aFunction, checkOptions, listOf, type OptionChecks } from '../../../src/base/option-checks.ts'
import type { Capability } from '../../../src/capability/capability.ts'
import { createFetchCapabilities } from '../fetch-capabilities.ts'
import { FETCH_OPTION_CHECKS, type FetchOptions } from '../fetch-options.ts'
import { isPublicSuffix } from '../public-suffix.ts'
import { createNodeTransport, type NodeTransportOptions } from './node-transport.node.ts'

export interface NodeFetchOptions extends FetchOptions, NodeTransportOptions {}

const OPTIONS: OptionChecks<NodeFetchOptions> = {
  ...FETCH_OPTION_CHECKS,
  resolve: aFunction,
  certificateAuthorities: listOf('certificates in PEM form'),
}

/**
 * The capability `net.fetch`.
 * @throws CaissonError `invalid_argument`
 */
export function createNodeFetchCapabilities(options: NodeFetchOptions): readonly Capability[] {
  checkOptions(options, OPTIONS, ['allow'])
  return createFetchCapabilities(options, {
    transport: (exceptions) => createNodeTransport(exceptions, options),
    isPublicSuffix,
  })
}
