/** The Merkle root of many pages, without blocking the host while they are digested. */
import type { Digest } from '../../base/digest.ts'
import type { Hash } from '../../ports/hash.ts'
import { PAGE_BYTES, type PageChange, PageTree } from '../page-tree.ts'
import { isOneStep, type Pacer } from './pacer.ts'

/** Pages digested at once. */
const BATCH_PAGES = 16

/** What is digested of a page in the digest of its group. */
const ENTRY_BYTES = 36

/**
 * The root of `tree`. Pages remember their digests, so digesting them in small trees first leaves the large one
 * nothing but its groups.
 * @param known a tree whose pages are digested already, most likely
 */
export async function rootOf(
  tree: PageTree,
  hash: Hash,
  pacer: Pacer,
  known: PageTree = PageTree.empty,
): Promise<Digest> {
  if (isOneStep(tree.pageCount * PAGE_BYTES)) return tree.root(hash.sha256)
  let batch: PageChange[] = []
  for (const change of tree.changesSince(known)) {
    batch.push(change)
    if (batch.length < BATCH_PAGES) continue
    PageTree.empty.with(batch).root(hash.sha256)
    await pacer.spend(batch.length * PAGE_BYTES)
    batch = []
  }
  const root = tree.root(hash.sha256)
  await pacer.spend(tree.pageCount * ENTRY_BYTES)
  return root
}
