/** Guests' memories and checkpoints to try the container with. */

import { nodeCheckpointPorts } from '../../../host-bindings/system/checkpoint-ports.node.ts'
import { webCheckpointPorts } from '../../../host-bindings/system/web-checkpoint-ports.ts'
import type { CheckpointPorts } from '../../ports/checkpoint-ports.ts'
import { PAGE_BYTES, type PageChange, PageTree } from '../page-tree.ts'
import type { CheckpointHeader, DecodeOptions, EncodedCheckpoint } from './checkpoint.ts'
import type { CheckpointKey, CheckpointKeys } from './checkpoint-keys.ts'
import { encodeCheckpoint } from './encode-checkpoint.ts'

export const PORTS: readonly (readonly [name: string, ports: CheckpointPorts])[] = [
  ['node', nodeCheckpointPorts],
  ['web', webCheckpointPorts],
]

/** Fast ones, for tests that are not about ports. */
export const ports: CheckpointPorts = nodeCheckpointPorts

export function keyOf(id: string, fill: number): CheckpointKey {
  return { id, bytes: new Uint8Array(32).fill(fill) }
}

export const MAC_KEYS: CheckpointKeys = { mac: { current: keyOf('mac-1', 1) } }
export const ALL_KEYS: CheckpointKeys = { ...MAC_KEYS, encryption: { current: keyOf('enc-1', 2) } }

/** Numbers that look random, the same for the same seed. */
export function randomNumbers(seed: number): () => number {
  let state = (seed * 2_654_435_761) >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
}

/** A page as a heap has it: small numbers, tags, pointers to what lies near, now and then anything. */
export function heapPage(index: number, next: () => number): Uint8Array {
  const page = new Uint8Array(PAGE_BYTES)
  const view = new DataView(page.buffer)
  for (let word = 0; word < PAGE_BYTES / 4; word++)
    view.setUint32(4 * word, heapWord(index * PAGE_BYTES, next), true)
  view.setUint32(0, 1, true)
  return page
}

function heapWord(address: number, next: () => number): number {
  const kind = next() % 8
  if (kind < 3) return next() % 64
  if (kind < 5) return (address + 8 * (next() % 2_048)) >>> 0
  return kind === 5 ? 0xffff_fff9 : kind === 6 ? 0 : next()
}

/** `tree` after a step of a guest: some words of some pages are others. */
export function stepped(
  tree: PageTree,
  next: () => number,
  { pages = 11, words = 30, among = 50 }: { pages?: number; words?: number; among?: number } = {},
): PageTree {
  const changes = new Map<number, Uint8Array>()
  for (let i = 0; i < pages; i++) {
    const index = next() % among
    const page = changes.get(index) ?? tree.page(index)?.slice() ?? new Uint8Array(PAGE_BYTES)
    const view = new DataView(page.buffer)
    for (let word = 0; word < words; word++) {
      view.setUint32(4 * (next() % 1_024), heapWord(index * PAGE_BYTES, next), true)
    }
    view.setUint32(0, 1 + (next() % 1_000), true)
    changes.set(index, page)
  }
  return tree.with([...changes].sort(([a], [b]) => a - b))
}

export const MEMORY_BYTES = 786_432

export const BASE: PageTree = PageTree.empty.with(
  Array.from({ length: 45 }, (_, index): PageChange => [index, heapPage(index, randomNumbers(index))]),
)

export const STATE: Uint8Array = new TextEncoder().encode(
  JSON.stringify({
    pending: [{ id: 1, capability: 'prices.lookup', args: { sku: 'A-1' } }],
    fuel: 1_000_000,
  }),
)

export function headerOf(changes: Partial<CheckpointHeader> = {}): CheckpointHeader {
  return {
    engine: 'quickjs-0123456789abcdef',
    base: BASE.root(),
    tenant: 'tenant-1',
    run: 'run-1',
    principal: 'user-1',
    sequence: 1,
    links: 0,
    label: 'plain',
    takenAtMs: 1_767_225_600_000,
    memoryBytes: MEMORY_BYTES,
    root: BASE.root(),
    ...changes,
  }
}

/** A checkpoint with its bytes. */
export interface Link extends EncodedCheckpoint {
  readonly state: Uint8Array
  readonly pages: PageTree
}

/** Checkpoints of one run, oldest first, each against the one before it. */
export async function encodeRun(
  length: number,
  options: { keys?: CheckpointKeys; seed?: number; header?: Partial<CheckpointHeader> } = {},
): Promise<readonly Link[]> {
  const next = randomNumbers(options.seed ?? 7)
  const links: Link[] = []
  let pages = BASE
  for (let i = 0; i < length; i++) {
    pages = stepped(pages, next)
    const parent = links.at(-1)
    const state = new TextEncoder().encode(new TextDecoder().decode(STATE).replace('"id":1', `"id":${i + 1}`))
    const { root: _, ...header } = headerOf({
      ...options.header,
      sequence: i + 1,
      links: i,
      ...(parent && { parent: parent.id }),
    })
    const encoded = await encodeCheckpoint(
      { header, state, pages },
      parent ?? { pages: BASE },
      encodeOptions(options.keys),
    )
    links.push({ ...encoded, state, pages })
  }
  return links
}

export function encodeOptions(keys: CheckpointKeys | undefined): DecodeOptions {
  return { ports, ...(keys && { keys }) }
}

/** A store of checkpoints that gives what it was made from. */
export function loaderOf(
  links: Iterable<{ id: string; bytes: Uint8Array }>,
): (id: string) => Promise<Uint8Array | undefined> {
  const blobs = new Map([...links].map(({ id, bytes }) => [id, bytes]))
  return (id) => Promise.resolve(blobs.get(id))
}
