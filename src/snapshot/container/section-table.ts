/**
 * The body of a container: sections, each compressed for itself, so that nothing large is compressed or expanded at
 * once.
 *
 * Invariants
 * 1. All sections are known, and their sizes added up and compared with what the header announces, before any of them
 *    is expanded.
 * 2. How many there are follows from how much they hold: all of a type but the last are of a fair size.
 */
import { ByteReader } from '../../base/byte-reader.ts'
import { ByteWriter } from '../../base/byte-writer.ts'
import { CaissonError } from '../../base/errors.ts'
import type { Codec } from '../../ports/codec.ts'
import { MAX_SECTION_BYTES, METHOD, MIN_FULL_SECTION_BYTES, SECTION } from './container-format.ts'
import type { ContainerHeader } from './header-codec.ts'
import { MAX_PAGE_ENTRY_BYTES } from './page-sections.ts'
import { damaged } from './refusals.ts'

/** Below, deflate gains less than what it costs to ask it; in the words of pages it finds little (bench: checkpoint). */
const MIN_DEFLATED_BYTES: Readonly<Record<SectionType, number>> = {
  state: 512,
  stateChanges: 512,
  pages: 2_048,
}

/** Four numbers. */
const MAX_SECTION_HEAD_BYTES = 16

export type SectionType = keyof typeof SECTION

export interface Section {
  readonly type: SectionType
  readonly isDeflated: boolean
  /** Bytes that it holds. */
  readonly rawBytes: number
  /** As it lies in the body. */
  readonly stored: Uint8Array
}

/** A section as two parts of a body: at once if it is short. */
export function packSection(
  type: SectionType,
  raw: Uint8Array,
  codec: Codec,
): readonly Uint8Array[] | Promise<readonly Uint8Array[]> {
  if (raw.length < MIN_DEFLATED_BYTES[type]) return partsOf(type, raw, raw)
  const deflating = codec.deflate(raw)
  return deflating instanceof Promise
    ? deflating.then((deflated) => partsOf(type, raw, deflated))
    : partsOf(type, raw, deflating)
}

function partsOf(type: SectionType, raw: Uint8Array, deflated: Uint8Array): readonly Uint8Array[] {
  const isDeflated = deflated.length < raw.length
  const stored = isDeflated ? deflated : raw
  const writer = new ByteWriter(MAX_SECTION_HEAD_BYTES)
  writer.byte(SECTION[type])
  writer.byte(isDeflated ? METHOD.deflated : METHOD.stored)
  writer.varint(raw.length)
  writer.varint(stored.length)
  return [writer.finish(), stored]
}

/** What a section holds. @throws CaissonError `corrupted` */
export function unpackSection(
  { isDeflated, rawBytes, stored }: Section,
  codec: Codec,
): Uint8Array | Promise<Uint8Array> {
  return isDeflated ? inflated(codec, stored, rawBytes) : stored
}

async function inflated(codec: Codec, stored: Uint8Array, rawBytes: number): Promise<Uint8Array> {
  let raw: Uint8Array
  try {
    raw = await codec.inflate(stored, rawBytes)
  } catch (cause) {
    if (!CaissonError.is(cause, 'corrupted')) throw cause
    throw damaged('sections', 'a section cannot be expanded to what it says.', cause)
  }
  if (raw.length !== rawBytes) throw damaged('sections', 'a section holds less than it says.')
  return raw
}

/**
 * The sections of a body: those of the state, then those of the pages.
 * @throws CaissonError `corrupted`
 */
export function parseSections(body: Uint8Array, header: ContainerHeader): readonly Section[] {
  const reader = new ByteReader(body)
  const sections: Section[] = []
  try {
    while (reader.remaining > 0) sections.push(readSection(reader))
  } catch (cause) {
    throw damaged('sections', 'its body does not consist of sections.', cause)
  }
  checkOrder(sections)
  checkSizes(sections, header)
  return sections
}

const TYPES: ReadonlyMap<number, SectionType> = new Map(
  Object.entries(SECTION).map(([name, number]) => [number, name as SectionType]),
)

function readSection(reader: ByteReader): Section {
  const type = TYPES.get(reader.byte())
  const method = reader.byte()
  const rawBytes = reader.varint()
  const storedBytes = reader.varint()
  const isDeflated = method === METHOD.deflated
  if (type === undefined || (!isDeflated && method !== METHOD.stored)) {
    throw reader.corrupted('there is no such section')
  }
  if (rawBytes === 0 || rawBytes > MAX_SECTION_BYTES)
    throw reader.corrupted('a section is empty or too large')
  if (isDeflated ? storedBytes >= rawBytes : storedBytes !== rawBytes) {
    throw reader.corrupted('a section is stored in more bytes than it holds')
  }
  return { type, isDeflated, rawBytes, stored: reader.raw(storedBytes) }
}

function checkOrder(sections: readonly Section[]): void {
  for (const [i, { type, rawBytes }] of sections.entries()) {
    const next = sections[i + 1]?.type
    if (next === undefined) continue
    if (next === type ? type === 'stateChanges' || rawBytes < MIN_FULL_SECTION_BYTES : next !== 'pages') {
      throw damaged('sections', 'its sections stand in another order, or are cut smaller, than they may.')
    }
  }
}

function checkSizes(sections: readonly Section[], header: ContainerHeader): void {
  const total = (wanted: SectionType): number =>
    sections.reduce((sum, { type, rawBytes }) => (type === wanted ? sum + rawBytes : sum), 0)
  const changes = total('stateChanges')
  if (changes > 0 ? header.parent === undefined : total('state') !== header.stateBytes) {
    throw damaged('state', 'its sections hold another state than its header announces.')
  }
  const pages = total('pages')
  if (pages < header.pages || pages > header.pages * MAX_PAGE_ENTRY_BYTES) {
    throw damaged('pages', 'its sections hold other pages than its header announces.')
  }
}
