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
import { PAGE_BYTES, type PageChange, type PageTree } from '../page-tree.ts'
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
  const { state, pages } = await decodeBody(parts, parent, options, pacer)
  await checkRoot(parts.header, pages, parent.pages, options, pacer)
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

/** State and pages, not yet compared with the root. */
export async function decodeBody(
  parts: ContainerParts,
  parent: CheckpointParent,
  options: DecodeOptions,
  pacer: Pacer,
): Promise<{ readonly state: Uint8Array; readonly pages: PageTree }> {
  const body = await openBody(parts, options)
  const sections = parseSections(body, parts.header)
  return {
    state: await decodeState(parts.header, sections, parent, options),
    pages: await decodePages(parts.header, sections, parent.pages, options, pacer),
  }
}

/** @throws CaissonError `corrupted` for reason `root` */
export async function checkRoot(
  header: CheckpointHeader,
  pages: PageTree,
  known: PageTree,
  { ports }: DecodeOptions,
  pacer: Pacer,
): Promise<void> {
  if ((await rootOf(pages, ports.hash, pacer, known)) !== header.root) {
    throw damaged('root', 'its pages are not those that it was taken of, or its parent is not the one given.')
  }
}

/** What a checkpoint says of itself, without what only its container needs. */
export function checkpointHeader(header: ContainerHeader): CheckpointHeader {
  const { stateBytes: _, pages: _1, macKey: _2, encryptionKey: _3, nonce: _4, ...shown } = header
  return shown
}

async function decodeState(
  { stateBytes }: ContainerHeader,
  sections: readonly Section[],
  parent: CheckpointParent,
  { ports }: DecodeOptions,
): Promise<Uint8Array> {
  const [first] = sections
  if (first?.type === 'stateChanges') {
    const changes = await unpackSection(first, ports.codec)
    if (parent.state === undefined) {
      throw new CaissonError(
        'invalid_argument',
        "The checkpoint is written against its parent's state, which is missing.",
      )
    }
    try {
      return applyStateChanges(parent.state, changes, stateBytes)
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

async function decodePages(
  header: ContainerHeader,
  sections: readonly Section[],
  parent: PageTree,
  { ports }: DecodeOptions,
  pacer: Pacer,
): Promise<PageTree> {
  const memoryPages = header.memoryBytes / PAGE_BYTES
  const reader = new PageSectionReader(parent, memoryPages)
  const changes: PageChange[] = []
  for (const section of sections) {
    if (section.type !== 'pages') continue
    reader.begin(await unpackSection(section, ports.codec))
    for (let change = nextPage(reader); change !== undefined; change = nextPage(reader)) {
      changes.push(change)
      const pause = pacer.spend(PAGE_BYTES)
      if (pause !== undefined) await pause
    }
  }
  if (reader.count !== header.pages) throw damaged('pages', 'it holds other pages than its header announces.')
  const pages = parent.with(changes)
  if (!fitsInMemory(pages, header.memoryBytes))
    throw damaged('pages', 'a page of its parent lies outside of its memory.')
  return pages
}

function nextPage(reader: PageSectionReader): PageChange | undefined {
  try {
    return reader.next()
  } catch (cause) {
    throw damaged('pages', 'its pages cannot be read.', cause)
  }
}
