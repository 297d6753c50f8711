/**
 * Checkpoints to bytes.
 *
 * Invariants
 * 1. What is written can be read with the same limits and keys, against the same parent.
 * 2. A secret checkpoint is encrypted or not written at all.
 * 3. The host is never blocked for more than a few milliseconds, however large the guest.
 */
import type { Digest } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import type { PageChange, PageTree } from '../page-tree.ts'
import { PAGE_BYTES } from '../page-tree.ts'
import type {
  CheckpointHeader,
  CheckpointParent,
  EncodedCheckpoint,
  EncodeOptions,
  NewCheckpoint,
} from './checkpoint.ts'
import { checkKeys } from './checkpoint-keys.ts'
import { type CheckpointLimits, checkLimit, parseCheckpointLimits } from './checkpoint-limits.ts'
import { FLAG, NONCE_BYTES, TAG_BYTES } from './container-format.ts'
import { joinContainer, joinHead } from './container-parts.ts'
import { fitsInMemory } from './fits-in-memory.ts'
import { type ContainerHeader, encodeHeader } from './header-codec.ts'
import { joinInSteps, Pacer } from './pacer.ts'
import { PageSectionWriter } from './page-sections.ts'
import { rootOf } from './root-in-steps.ts'
import { packSection } from './section-table.ts'
import { encodeStateChanges } from './state-changes.ts'

/** A state is cut into sections of this size. */
const STATE_SECTION_BYTES = 262_144

const WASM_PAGE_BYTES = 65_536

/** Bytes that are hashed in the time in which a page is found and put in its place, before anything is encoded. */
const LISTED_BYTES = 64

/**
 * Writes a checkpoint against its parent, or against the base image if its header names none.
 * @throws CaissonError `encryption_required`, `checkpoint_too_large`, `invalid_argument`, `invalid_limit`
 */
export async function encodeCheckpoint(
  checkpoint: NewCheckpoint,
  parent: CheckpointParent,
  options: EncodeOptions,
): Promise<EncodedCheckpoint> {
  const { ports, keys = {} } = options
  const limits = parseCheckpointLimits(options.limits)
  checkKeys(keys)
  checkNew(checkpoint, limits)
  if (checkpoint.header.label === 'secret' && keys.encryption === undefined) {
    throw new CaissonError(
      'encryption_required',
      'The guest may hold secrets: its checkpoint is written encrypted only, and no encryption key is configured.',
    )
  }
  const pacer = new Pacer(ports.pause)
  const captured = pacer.spend(checkpoint.pages.pageCount * LISTED_BYTES)
  if (captured !== undefined) await captured
  const base =
    checkpoint.header.parent === undefined ? await rootOf(parent.pages, ports.hash, pacer) : undefined
  if (base !== undefined && base !== checkpoint.header.base) {
    throw invalid('it stands alone, and is written against another base image than its header names')
  }

  const body = await encodeState(checkpoint, parent, options)
  const changes = checkpoint.pages.eachChangeSince(parent.pages)
  const pages = await encodePages(changes, parent.pages, options, pacer)
  body.push(...pages.sections)

  const header: CheckpointHeader = {
    ...checkpoint.header,
    root: await rootOf(checkpoint.pages, ports.hash, pacer),
  }
  const containerHeader: ContainerHeader = {
    ...header,
    stateBytes: checkpoint.state.length,
    pages: pages.count,
  }
  const { id, bytes } = await seal(containerHeader, body, options, pacer)
  checkLimit(limits, 'maxFileBytes', bytes.length)
  return { id, bytes, header, pageBytes: pages.bytes }
}

async function encodeState(
  { header, state }: NewCheckpoint,
  parent: CheckpointParent,
  { ports }: EncodeOptions,
): Promise<Uint8Array[]> {
  if (header.parent !== undefined && parent.state !== undefined) {
    const changes = encodeStateChanges(parent.state, state)
    if (changes !== undefined && changes.length > 0 && changes.length < state.length) {
      return [...(await packSection('stateChanges', changes, ports.codec))]
    }
  }
  const parts: Uint8Array[] = []
  for (let at = 0; at < state.length; at += STATE_SECTION_BYTES) {
    parts.push(...(await packSection('state', state.subarray(at, at + STATE_SECTION_BYTES), ports.codec)))
  }
  return parts
}

async function encodePages(
  changes: Iterable<PageChange>,
  parent: PageTree,
  { ports }: EncodeOptions,
  pacer: Pacer,
): Promise<{ readonly sections: readonly Uint8Array[]; readonly count: number; readonly bytes: number }> {
  const writer = new PageSectionWriter()
  const sections: Uint8Array[] = []
  let bytes = 0
  const flush = async (): Promise<void> => {
    const raw = writer.take()
    if (raw.length === 0) return
    bytes += raw.length
    const packing = packSection('pages', raw, ports.codec)
    sections.push(...(packing instanceof Promise ? await packing : packing))
  }
  for (const change of changes) {
    writer.add(change, parent)
    if (writer.isFull) await flush()
    const pause = pacer.spend(PAGE_BYTES)
    if (pause !== undefined) await pause
  }
  await flush()
  writer.close()
  return { sections, count: writer.count, bytes }
}

/** Encrypts, authenticates, digests: whatever keys there are for. */
async function seal(
  header: ContainerHeader,
  body: readonly Uint8Array[],
  { ports, keys = {} }: EncodeOptions,
  pacer: Pacer,
): Promise<{ readonly id: Digest; readonly bytes: Uint8Array }> {
  const mac = keys.mac?.current
  const encryption = keys.encryption?.current
  const nonce = encryption && ports.entropy.bytes(NONCE_BYTES)
  const flags =
    (encryption === undefined ? 0 : FLAG.encrypted) |
    (mac === undefined ? 0 : FLAG.authenticated) |
    (header.parent === undefined ? 0 : FLAG.delta)
  const encodedHeader = encodeHeader({
    ...header,
    ...(mac && { macKey: mac.id }),
    ...(encryption && nonce && { encryptionKey: encryption.id, nonce }),
  })
  const bodyBytes = body.reduce((sum, part) => sum + part.length, 0)
  const head = joinHead(flags, encodedHeader, bodyBytes + (encryption === undefined ? 0 : TAG_BYTES))
  if (encryption === undefined || nonce === undefined)
    return joinContainer(head, body, mac, ports.hash, pacer)
  const plain = await joinInSteps(body, pacer)
  const sealed = await ports.cipher.encrypt(encryption.bytes, nonce, head, plain)
  return joinContainer(head, [sealed], mac, ports.hash, pacer)
}

function checkNew({ header, state, pages }: NewCheckpoint, limits: CheckpointLimits): void {
  if ((header.parent === undefined) !== (header.links === 0)) {
    throw invalid('it has links exactly if it has a parent')
  }
  if (header.memoryBytes % WASM_PAGE_BYTES !== 0)
    throw invalid(`memoryBytes is a multiple of ${WASM_PAGE_BYTES}`)
  if (!fitsInMemory(pages, header.memoryBytes)) throw invalid('a page lies outside of its memory')
  checkLimit(limits, 'maxLinks', header.links)
  checkLimit(limits, 'maxMemoryBytes', header.memoryBytes)
  checkLimit(limits, 'maxStateBytes', state.length)
}

function invalid(what: string): CaissonError {
  return new CaissonError('invalid_argument', `The checkpoint cannot be written: ${what}.`)
}
