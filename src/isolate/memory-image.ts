/** The memory of an instance as a tree of pages: what counts as state, and what is dead. */
import type { SamePage } from '../ports/page-tools.ts'
import { dirtyPages, type KeepPage, type LiveRange } from '../snapshot/dirty-pages.ts'
import { PAGE_BYTES, type PageChange, type PageTree } from '../snapshot/page-tree.ts'
import type { EngineInstance } from './engine-instance.ts'

/** Bytes that are looked at in one go. */
const PIECE_BYTES = 128 * 1024

/** Pages that are compared in one step of the host: about a millisecond. */
const STEP_PAGES = 1_024

/** Pages that are compared in the time in which one that changed is found, hashed and copied. */
const COMPARES = 8

/** Memory up to this size is looked at at once. */
const SMALL_BYTES = 4 * 1024 * 1024

/**
 * What differs from `known` in an instance that no wasm frame is live in. The stack is dead then and counts as
 * zeros; all the rest of the memory counts, wherever the guest says that its heap ends.
 */
export function memoryChanges(
  instance: EngineInstance,
  known: PageTree,
  same: SamePage,
  keep?: KeepPage,
): PageChange[] {
  return dirtyPages(instance.bytes, known, liveRanges(instance), same, keep)
}

/** As `memoryChanges`, with pauses for the host's timers and sockets. Meanwhile the guest must not run. */
export async function memoryChangesInPieces(
  instance: EngineInstance,
  known: PageTree,
  pause: () => Promise<void>,
  same: SamePage,
  keep?: KeepPage,
): Promise<PageChange[]> {
  const changes: PageChange[] = []
  let done = 0
  for (const { start, end } of liveRanges(instance)) {
    for (let at = start; at < end; at += PIECE_BYTES) {
      const piece = { start: at, end: Math.min(end, at + PIECE_BYTES) }
      const changed = dirtyPages(instance.bytes, known, [piece], same, keep)
      changes.push(...changed)
      done += PIECE_BYTES / PAGE_BYTES + COMPARES * changed.length
      if (done < STEP_PAGES) continue
      done = 0
      await pause()
    }
  }
  return changes
}

/** Whether looking at all of the memory would block the host for long. */
export function isLarge(instance: EngineInstance): boolean {
  return instance.size > SMALL_BYTES
}

function liveRanges(instance: EngineInstance): readonly LiveRange[] {
  instance.clearStackEdges(PAGE_BYTES)
  const { stackEnd, stackBase } = instance.engine.layout
  return [
    { start: 0, end: Math.ceil(stackEnd / PAGE_BYTES) * PAGE_BYTES },
    { start: Math.floor(stackBase / PAGE_BYTES) * PAGE_BYTES, end: instance.size },
  ]
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
