/** The memory of an instance as a tree of pages: what counts as state, and what is dead. */
import type { SamePage } from '../ports/same-page.ts'
import { dirtyPages, type LiveRange } from '../snapshot/dirty-pages.ts'
import { PAGE_BYTES, type PageChange, type PageTree } from '../snapshot/page-tree.ts'
import type { EngineInstance } from './engine-instance.ts'

/**
 * What differs from `known` in an instance that no wasm frame is live in. The stack is dead then and counts as
 * zeros; all the rest of the memory counts, wherever the guest says that its heap ends.
 */
export function memoryChanges(
  instance: EngineInstance,
  known: PageTree,
  same: SamePage | undefined,
): PageChange[] {
  instance.clearStackEdges(PAGE_BYTES)
  const { stackEnd, stackBase } = instance.engine.layout
  const ranges: readonly LiveRange[] = [
    { start: 0, end: Math.ceil(stackEnd / PAGE_BYTES) * PAGE_BYTES },
    { start: Math.floor(stackBase / PAGE_BYTES) * PAGE_BYTES, end: instance.size },
  ]
  return dirtyPages(instance.bytes, known, ranges, same)
}

/** Writes pages into an instance that holds the base image. `changes` are bounds-checked. */
export function applyChanges(instance: EngineInstance, changes: Iterable<PageChange>): void {
  const memory = instance.bytes
  for (const [index, page] of changes) {
    const start = index * PAGE_BYTES
    if (!Number.isSafeInteger(index) || index < 0 || start + PAGE_BYTES > memory.length) {
      throw new RangeError(`Page ${index} is outside of the memory.`)
    }
    if (page === undefined) memory.fill(0, start, start + PAGE_BYTES)
    else memory.set(page, start)
  }
}
