/** The Merkle root of many pages, without blocking the host while they are digested. */
import type { Digest } from '../../base/digest.ts'
import type { Hash } from '../../ports/hash.ts'
import { PAGE_BYTES, type PageTree } from '../page-tree.ts'
import { isOneStep, type Pacer } from './pacer.ts'

/** The root of `tree`. */
export async function rootOf(tree: PageTree, hash: Hash, pacer: Pacer): Promise<Digest> {
  if (!isOneStep(tree.pageCount * PAGE_BYTES)) {
    for (const bytes of tree.digestInPieces(hash.sha256)) {
      const pause = pacer.spend(bytes)
      if (pause !== undefined) await pause
    }
  }
  return tree.root(hash.sha256)
}
