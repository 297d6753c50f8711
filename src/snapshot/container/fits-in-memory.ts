import { PAGE_BYTES, type PageTree } from '../page-tree.ts'

/** Whether all pages lie in a memory of so many bytes. */
export function fitsInMemory(pages: PageTree, memoryBytes: number): boolean {
  return pages.end <= memoryBytes / PAGE_BYTES
}
