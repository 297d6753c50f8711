/** `net.fetch` on Node: with everything that `fetch-capabilities.ts` and `node-transport.node.ts` promise. */
import type { Capability } from '../../../src/capability/capability.ts'
import { createFetchCapabilities, type FetchOptions } from '../fetch-capabilities.ts'
import { isPublicSuffix } from '../public-suffix.ts'
import { createNodeTransport, type NodeTransportOptions } from './node-transport.node.ts'

export interface NodeFetchOptions extends FetchOptions, NodeTransportOptions {}

/**
 * The capability `net.fetch`.
 * @throws CaissonError `invalid_argument`
 */
export function createNodeFetchCapabilities(options: NodeFetchOptions): readonly Capability[] {
  return createFetchCapabilities(options, {
    transport: (exceptions) => createNodeTransport(exceptions, options),
    isPublicSuffix,
  })
}
