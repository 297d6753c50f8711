/** The name section: debugging names, of which those of functions move when functions are added in front. */
import { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'
import type { CustomSection } from './module.ts'

const FUNCTION_NAMES = 1
/** Subsections whose outer index is a function: locals and labels. */
const BY_FUNCTION: readonly number[] = [2, 3]

/**
 * The section with every function index replaced by what `map` makes of it. A name section has no bearing on
 * execution: where this one does not parse, the rest of it is dropped.
 */
export function mapNameSection(
  section: CustomSection,
  map: (functionIndex: number) => number,
): CustomSection {
  const writer = new ByteWriter(section.bytes.length + 64)
  const reader = new ByteReader(section.bytes)
  try {
    while (!reader.done) {
      const id = reader.byte()
      const content = reader.section(reader.u32())
      const mapped = mapSubsection(id, content, map)
      writer.byte(id)
      writer.sized(mapped)
    }
  } catch {
    // Only whole subsections were written: what is there is well formed.
  }
  return { ...section, bytes: writer.copy() }
}

function mapSubsection(id: number, content: ByteReader, map: (functionIndex: number) => number): Uint8Array {
  const indirect = BY_FUNCTION.includes(id)
  if (id !== FUNCTION_NAMES && !indirect) return content.take(content.end - content.position)
  const writer = new ByteWriter(content.end - content.position + 64)
  const count = content.count(2)
  writer.u32(count)
  for (let entry = 0; entry < count; entry++) {
    writer.u32(map(content.u32()))
    if (indirect) copyNameMap(content, writer)
    else writer.sized(content.take(content.u32()))
  }
  return writer.bytes()
}

function copyNameMap(content: ByteReader, writer: ByteWriter): void {
  const count = content.count(2)
  writer.u32(count)
  for (let entry = 0; entry < count; entry++) {
    writer.u32(content.u32())
    writer.sized(content.take(content.u32()))
  }
}
