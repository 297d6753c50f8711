/**
 * A checkpoint with all that it stands on.
 *
 * Invariants
 * 1. Every link is whole, authentic and allowed before the body of any is read.
 * 2. A parent is the one that its child names by digest, of the same run, tenant, engine and base image, older, with
 *    one link less, a memory that is not larger, and not secret if the child is not. So there are no cycles, and no
 *    more links than the limit.
 * 3. The root is compared for the head: its pages are the sum of all links, whose bytes its digest covers through
 *    their own. So a chain costs what it changed: pages are copied and digested once, not once for each link.
 */
import type { Digest } from '../../base/digest.ts'
import type { PageTree } from '../page-tree.ts'
import type { Checkpoint, CheckpointHeader, DecodeOptions } from './checkpoint.ts'
import { checkLimit, parseCheckpointLimits } from './checkpoint-limits.ts'
import type { ContainerParts } from './container-parts.ts'
import { checkBase, checkpointHeader, decodeBody, finishPages } from './decode-checkpoint.ts'
import { openContainer } from './open-container.ts'
import { Pacer } from './pacer.ts'
import { damaged } from './refusals.ts'
import { WorkingPages } from './working-pages.ts'

/** A checkpoint that was read through its parents. */
export interface DecodedChain extends Checkpoint {
  /** Ids of the checkpoint and of all that it stands on, newest first. */
  readonly chain: readonly Digest[]
  /** What each of them says of its pages, in bytes before they are compressed. */
  readonly pageBytes: readonly number[]
}

/**
 * Reads a checkpoint, loading its parents down to the one that stands on the base image.
 *
 * `expect` says what the head must be; its parents must be what the head is.
 * @param load gives the bytes of a checkpoint, which need not be right; undefined when there are none
 * @throws CaissonError what `decodeCheckpoint` throws, and `corrupted` for reason `chain`
 */
export async function decodeChain(
  head: Uint8Array,
  load: (id: Digest) => Promise<Uint8Array | undefined>,
  base: PageTree,
  options: DecodeOptions,
): Promise<DecodedChain> {
  const pacer = new Pacer(options.ports.pause)
  const links = await openLinks(head, load, options, pacer)
  const [newest] = links as [ContainerParts]
  await checkBase((links.at(-1) as ContainerParts).header, base, options, pacer)
  const working = new WorkingPages(base)
  let state: Uint8Array | undefined
  const pageBytes: number[] = []
  for (const parts of links.toReversed()) {
    const body = await decodeBody(parts, working, state, options, pacer)
    state = body.state
    pageBytes.unshift(body.pageBytes)
  }
  const pages = await finishPages(newest.header, working, options, pacer)
  return {
    header: checkpointHeader(newest.header),
    state: state as Uint8Array,
    pages,
    chain: links.map(({ id }) => id),
    pageBytes,
  }
}

/** All links, newest first, each of them whole, authentic and allowed. */
async function openLinks(
  head: Uint8Array,
  load: (id: Digest) => Promise<Uint8Array | undefined>,
  options: DecodeOptions,
  pacer: Pacer,
): Promise<readonly ContainerParts[]> {
  const limits = parseCheckpointLimits(options.limits)
  let child = await openContainer(head, options, pacer)
  const links = [child]
  let chainBytes = head.length
  // Each link has one less than its child, and the head's were compared with the limit.
  while (child.header.parent !== undefined) {
    const bytes = await load(child.header.parent)
    if (bytes === undefined) throw damaged('chain', `its parent ${child.header.parent} is missing.`)
    chainBytes += bytes.length
    checkLimit(limits, 'maxFileBytes', chainBytes)
    const parent = await openContainer(bytes, { ...options, expect: {} }, pacer)
    checkLink(parent, child)
    links.push(parent)
    child = parent
  }
  return links
}

const SAME: readonly (keyof CheckpointHeader)[] = ['engine', 'base', 'tenant', 'run']

function checkLink(parent: ContainerParts, child: ContainerParts): void {
  if (parent.id !== child.header.parent)
    throw damaged('chain', 'a parent is not the checkpoint that is named.')
  for (const name of SAME) {
    if (parent.header[name] !== child.header[name]) {
      throw damaged('chain', `a parent is of another ${name} than its child.`)
    }
  }
  if (parent.header.links !== child.header.links - 1)
    throw damaged('chain', 'its links are not counted one by one.')
  if (parent.header.sequence >= child.header.sequence)
    throw damaged('chain', 'a parent is not older than its child.')
  if (parent.header.memoryBytes > child.header.memoryBytes) throw damaged('chain', 'its memory has shrunk.')
  if (parent.header.label === 'secret' && child.header.label !== 'secret') {
    throw damaged('chain', 'what stands on a secret checkpoint says that it is not secret.')
  }
}
