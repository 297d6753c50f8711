/** Writes modules for the oracle: LEB128 numbers, sections, and replacing or extending sections of a module. */
import { ByteReader } from './byte-reader.ts'
import type { SectionRange, WasmModule } from './module-reader.ts'
import { leb } from './numeric-stubs.ts'

/** A signed LEB128 number. */
export function signedLeb(value: bigint): number[] {
  const bytes: number[] = []
  for (let rest = value; ; ) {
    const low = Number(rest & 0x7fn)
    rest >>= 7n
    const done = (rest === 0n && (low & 0x40) === 0) || (rest === -1n && (low & 0x40) !== 0)
    bytes.push(done ? low : low | 0x80)
    if (done) return bytes
  }
}

/** A name: its UTF-8 bytes with their length before them. */
export function nameBytes(name: string): number[] {
  const bytes = [...new TextEncoder().encode(name)]
  return [...leb(bytes.length), ...bytes]
}

/** Where sections stand in a module; data count (12) and tag (13) sections stand out of numeric order. */
function rank(id: number): number {
  return id === 12 ? 9.5 : id === 13 ? 5.5 : id
}

/** Gives the new payload of a section from its old one (undefined: there was none). */
export type SectionRewriter = (before: SectionRange | undefined) => Uint8Array

/** Copies a module with some sections rewritten or added. */
export function rewriteSections(
  module: WasmModule,
  rewriters: ReadonlyMap<number, SectionRewriter>,
): Uint8Array<ArrayBuffer> {
  const chunks: Uint8Array[] = [module.bytes.subarray(0, 8)]
  const pending = [...rewriters.keys()].sort((a, b) => rank(a) - rank(b))
  const emit = (id: number, payload: Uint8Array): void => {
    chunks.push(new Uint8Array([id, ...leb(payload.length)]), payload)
  }
  const emitMissing = (before: number): void => {
    while (pending[0] !== undefined && rank(pending[0]) < before) {
      const id = pending.shift() as number
      emit(id, (rewriters.get(id) as SectionRewriter)(undefined))
    }
  }
  for (const section of module.sections) {
    if (section.id !== 0) emitMissing(rank(section.id))
    const rewriter = section.id === pending[0] ? rewriters.get(section.id) : undefined
    if (rewriter !== undefined) pending.shift()
    emit(section.id, rewriter?.(section) ?? module.bytes.subarray(section.start, section.end))
  }
  emitMissing(Number.POSITIVE_INFINITY)
  return concatenate(chunks)
}

/** Joins byte arrays. */
export function concatenate(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(chunks.reduce((total, chunk) => total + chunk.length, 0))
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

/** A rewriter that appends `count` entries, given as bytes, to a section that is a vector. */
export function appendEntries(
  module: WasmModule,
  count: number,
  entries: readonly number[],
): SectionRewriter {
  return (before) => {
    if (before === undefined) return new Uint8Array([...leb(count), ...entries])
    const reader = new ByteReader(module.bytes, before.start)
    const existing = reader.u32()
    const rest = module.bytes.subarray(reader.at, before.end)
    return concatenate([new Uint8Array(leb(existing + count)), rest, new Uint8Array(entries)])
  }
}
