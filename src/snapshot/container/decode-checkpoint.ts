/**
 * Bytes to checkpoints. The bytes are hostile.
 *
 * Invariants
 * 1. A checkpoint is returned whole or not at all; what it was written against is never changed.
 * 2. What is allocated stays below the limits: sizes are compared with them, and with each other, beforehand.
 * 3. The pages have the root that the header names, so that a parent that is not the parent is found out.
 * 4. The host is never blocked for more than a few milliseconds.
 */
import { CaissonError } from '../../base/errors.ts'
import { PAGE_BYTES, type PageTree } from '../page-tree.ts'
import type { Checkpoint, CheckpointHeader, CheckpointParent, DecodeOptions } from './checkpoint.ts'
import type { ContainerParts } from './container-parts.ts'
import { fitsInMemory } from './fits-in-memory.ts'
import type { ContainerHeader } from './header-codec.ts'
import { openBody, openContainer } from './open-container.ts'
import { Pacer } from './pacer.ts'
import { PageSectionReader } from './page-sections.ts'
import { damaged } from './refusals.ts'
import { rootOf } from './root-in-steps.ts'
import { parseSections, type Section, unpackSection } from './section-table.ts'
import { applyStateChanges } from './state-changes.ts'
import { WorkingPages } from './working-pages.ts'

/**
 * Reads a checkpoint against what it was written against. `bytes` must not change until the promise has settled.
 * @throws CaissonError `checkpoint_too_large`, `corrupted`, `checkpoint_refused`, `engine_mismatch`,
 *   `encryption_required`, `invalid_argument`, `invalid_limit`
 */
export async function decodeCheckpoint(
  bytes: Uint8Array,
  parent: CheckpointParent,
  options: DecodeOptions,
): Promise<Checkpoint> {
  const pacer = new Pacer(options.ports.pause)
  const parts = await openContainer(bytes, options, pacer)
  await checkBase(parts.header, parent.pages, options, pacer)
  const working = new WorkingPages(parent.pages)
  const { state } = await decodeBody(parts, working, parent.state, options, pacer)
  const pages = await finishPages(parts.header, working, options, pacer)
  return { header: checkpointHeader(parts.header), state, pages }
}

/** A checkpoint that stands alone does so on the base image. @throws CaissonError `engine_mismatch` */
export async function checkBase(
  header: CheckpointHeader,
  base: PageTree,
  { ports }: DecodeOptions,
  pacer: Pacer,
): Promise<void> {
  if (header.parent !== undefined) return
  const found = await rootOf(base, ports.hash, pacer)
  if (found === header.base) return
  throw new CaissonError(
    'engine_mismatch',
    `The checkpoint needs the base image ${header.base} of engine ${header.engine}, and here is ${found}.`,
    { details: { differs: 'base', needed: header.base, found } },
  )
}

/** What stands in the body of a checkpoint. */
export interface DecodedBody {
  readonly state: Uint8Array
  /** What it says of pages, in bytes before they were compressed. */
  readonly pageBytes: number
}

/** The pages are changed to what they are in the checkpoint, and not yet compared with its root. */
export async function decodeBody(
  parts: ContainerParts,
  pages: WorkingPages,
  parentState: Uint8Array | undefined,
  options: DecodeOptions,
  pacer: Pacer,
): Promise<DecodedBody> {
  const opening = openBody(parts, options)
  const body = opening instanceof Promise ? await opening : opening
  const sections = parseSections(body, parts.header)
  const state = await decodeState(parts.header, sections, parentState, options)
  const pageBytes = await decodePages(parts.header, sections, pages, options, pacer)
  return { state, pageBytes }
}

/** The pages as a tree, which has the root that the header names. @throws CaissonError `corrupted` */
export async function finishPages(
  header: CheckpointHeader,
  working: WorkingPages,
  { ports }: DecodeOptions,
  pacer: Pacer,
): Promise<PageTree> {
  const pages = working.toTree()
  if (!fitsInMemory(pages, header.memoryBytes)) {
    throw damaged('pages', 'a page of its parent lies outside of its memory.')
  }
  if ((await rootOf(pages, ports.hash, pacer)) !== header.root) {
    throw damaged('root', 'its pages are not those that it was taken of, or its parent is not the one given.')
  }
  return pages
}

/** What a checkpoint says of itself, without what only its container needs. */
export function checkpointHeader(header: ContainerHeader): CheckpointHeader {
  const { stateBytes: _, pages: _1, macKey: _2, encryptionKey: _3, nonce: _4, ...shown } = header
  return shown
}

async function decodeState(
  { stateBytes }: ContainerHeader,
  sections: readonly Section[],
  parentState: Uint8Array | undefined,
  { ports }: DecodeOptions,
): Promise<Uint8Array> {
  const [first] = sections
  if (first?.type === 'stateChanges') {
    const unpacking = unpackSection(first, ports.codec)
    const changes = unpacking instanceof Promise ? await unpacking : unpacking
    if (parentState === undefined) {
      throw new CaissonError(
        'invalid_argument',
        "The checkpoint is written against its parent's state, which is missing.",
      )
    }
    try {
      return applyStateChanges(parentState, changes, stateBytes)
    } catch (cause) {
      throw damaged('state', "the changes of its state do not fit its parent's.", cause)
    }
  }
  const state = new Uint8Array(stateBytes)
  let at = 0
  for (const section of sections) {
    if (section.type !== 'state') break
    state.set(await unpackSection(section, ports.codec), at)
    at += section.rawBytes
  }
  return state
}

/** @returns how many bytes the pages took */
async function decodePages(
  header: ContainerHeader,
  sections: readonly Section[],
  pages: WorkingPages,
  { ports }: DecodeOptions,
  pacer: Pacer,
): Promise<number> {
  const reader = new PageSectionReader(pages, header.memoryBytes / PAGE_BYTES)
  let bytes = 0
  for (const section of sections) {
    if (section.type !== 'pages') continue
    bytes += section.rawBytes
    const unpacking = unpackSection(section, ports.codec)
    reader.begin(unpacking instanceof Promise ? await unpacking : unpacking)
    while (readPage(reader)) {
      const pause = pacer.spend(PAGE_BYTES)
      if (pause !== undefined) await pause
    }
  }
  if (reader.count !== header.pages) throw damaged('pages', 'it holds other pages than its header announces.')
  return bytes
}

function readPage(reader: PageSectionReader): boolean {
  try {
    return reader.next()
  } catch (cause) {
    throw damaged('pages', 'its pages cannot be read.', cause)
  }
}
