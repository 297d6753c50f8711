/** `net.fetch` on Node: with everything that `fetch-capabilities.ts` and `node-transport.node.ts` promise. */
import type { Capability } from '../../../src/capability/capability.ts'
import { createFetchCapabilities, type FetchOptions } from '../fetch-capabilities.ts'
import { isPublicSuffix } from '../public-suffix.ts'
import { createNodeTransport, type Resolve } from './node-transport.node.ts'

export interface NodeFetchOptions extends FetchOptions {
  /** Default: the system's resolver, hosts file included. What it answers is checked in any case. */
  readonly resolve?: Resolve
}

/**
 * The capability `net.fetch`.
 * @throws CaissonError `invalid_argument`
 */
export function createNodeFetchCapabilities(options: NodeFetchOptions): readonly Capability[] {
  return createFetchCapabilities(options, {
    transport: (exceptions) => createNodeTransport(exceptions, options.resolve),
    isPublicSuffix,
  })
}
