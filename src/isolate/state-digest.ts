/**
 * The digest of a guest's whole live state: equal histories give equal digests, on every runtime.
 *
 * Covers the linear memory without the dead stack, by the Merkle root of its pages, and which calls are pending.
 * Pages of zeros do not count, so that the size to which the memory happens to be reserved does not either. Fuel,
 * clock and seed live outside.
 */
import { type Digest, sha256 } from '../base/digest.ts'
import type { PageTools } from '../ports/page-tools.ts'
import type { PageTree } from '../snapshot/page-tree.ts'

export function stateDigest(
  engine: string,
  memory: PageTree,
  pendingIds: Iterable<number>,
  hash: PageTools['sha256'],
): Digest {
  return sha256(
    new TextEncoder().encode(
      `caisson state 2\n${engine}\n${memory.root(hash)}\n${[...pendingIds].join(',')}\n`,
    ),
  )
}
