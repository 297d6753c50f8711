/**
 * What bytes are before anything is done with them: a core module, a component, or something else, and whether the
 * file is whole.
 *
 * 1. Only the header and the heads of sections are read: the work grows with their number, which is bounded.
 * 2. Whatever the bytes are, it answers or throws a `CaissonError` `invalid_module` (`invalid_component` for a
 *    component that is cut) that says what they are, where, and what to do.
 */
import { CaissonError } from '../../base/errors.ts'
import { showCount } from '../../base/show-count.ts'

export type BinaryKind = 'module' | 'component'

/** A section as it stands in the file: `offset` is that of its content. */
export interface BinarySection {
  readonly id: number
  readonly offset: number
  readonly bytes: number
}

export interface InspectedBinary {
  readonly kind: BinaryKind
  readonly bytes: number
  readonly sections: readonly BinarySection[]
}

/** Larger files are refused: twice what the largest language runtimes for WebAssembly take. */
export const MOST_BINARY_BYTES: number = 128 * 1024 * 1024

const MOST_SECTIONS = 100_000

const HEADER_BYTES = 8
const MAGIC = [0x00, 0x61, 0x73, 0x6d] as const

/** Beginnings of what people take for WebAssembly. */
const OTHER_FORMATS: readonly (readonly [begins: readonly number[], what: string])[] = [
  [[0x28, 0x6d, 0x6f, 0x64], 'WebAssembly text; assemble it first (wat2wasm, wasm-tools parse)'],
  [[0x28, 0x63, 0x6f, 0x6d], 'the text of a component; assemble it first (wasm-tools parse)'],
  [[0x7f, 0x45, 0x4c, 0x46], 'a native ELF program; compile for a wasm32 target'],
  [[0x4d, 0x5a], 'a native Windows program; compile for a wasm32 target'],
  [[0x1f, 0x8b], 'a gzip file; unpack it first'],
  [[0x50, 0x4b, 0x03, 0x04], 'a zip file; unpack it first'],
  [[0x28, 0xb5, 0x2f, 0xfd], 'a zstd file; unpack it first'],
  [[0x42, 0x43, 0xc0, 0xde], 'LLVM bitcode; link it first'],
  [
    [0x76, 0x65, 0x72, 0x73, 0x69, 0x6f, 0x6e, 0x20],
    'a pointer of Git LFS and not the file; fetch it (git lfs pull)',
  ],
  [[0x3c], 'a web page or XML; look at what was downloaded'],
]

/**
 * Says what `bytes` are.
 *
 * @param expected what they must be; the error for the other kind says how to go on
 * @throws CaissonError `invalid_module`, `invalid_component`; `details: { reason, offset }`
 */
export function inspectBinary(
  bytes: Uint8Array,
  expected?: BinaryKind,
  maxBytes: number = MOST_BINARY_BYTES,
): InspectedBinary {
  if (bytes.length > maxBytes) {
    throw refused(
      'too large',
      `The file has ${showCount(bytes.length)} bytes; at most ${showCount(maxBytes)} are taken.`,
      0,
    )
  }
  const kind = kindOf(bytes)
  if (expected !== undefined && kind !== expected) throw wrongKind(kind)
  return { kind, bytes: bytes.length, sections: readSections(bytes, kind) }
}

function kindOf(bytes: Uint8Array): BinaryKind {
  if (bytes.length === 0) throw refused('empty', 'The file is empty.', 0)
  for (const [at, byte] of MAGIC.entries()) {
    if (at >= bytes.length) throw truncated('its header', bytes.length, HEADER_BYTES - bytes.length)
    if (bytes[at] !== byte) throw refused('not wasm', notWasm(bytes), at)
  }
  if (bytes.length < HEADER_BYTES) throw truncated('its header', bytes.length, HEADER_BYTES - bytes.length)
  const version = (bytes[4] as number) | ((bytes[5] as number) << 8)
  const layer = (bytes[6] as number) | ((bytes[7] as number) << 8)
  if (layer === 0 && version === 1) return 'module'
  if (layer === 1) return 'component'
  throw refused(
    'unknown version',
    `This is WebAssembly of version ${version}, layer ${layer}; modules of version 1 and components are taken.`,
    4,
  )
}

function notWasm(bytes: Uint8Array): string {
  for (const [begins, what] of OTHER_FORMATS) {
    if (begins.every((byte, at) => bytes[at] === byte))
      return `This is no WebAssembly binary. It looks like ${what}.`
  }
  return 'This is no WebAssembly binary: it does not begin with "\\0asm".'
}

function wrongKind(kind: BinaryKind): CaissonError {
  return kind === 'component'
    ? refused('component', 'This is a component, where a core module is meant: open it as a component.', 6)
    : refused(
        'module',
        'This is a core module, where a component is meant: open it as a module, or make a component of it (wasm-tools component new).',
        6,
      )
}

function readSections(bytes: Uint8Array, kind: BinaryKind): BinarySection[] {
  const sections: BinarySection[] = []
  let at = HEADER_BYTES
  while (at < bytes.length) {
    if (sections.length === MOST_SECTIONS) throw refused('too large', 'The file has too many sections.', at)
    const id = bytes[at] as number
    const size = readSize(bytes, at + 1, kind)
    const end = size.end + size.value
    if (end > bytes.length) throw truncated(`section ${id}`, size.end, end - bytes.length, kind)
    sections.push({ id, offset: size.end, bytes: size.value })
    at = end
  }
  return sections
}

function readSize(bytes: Uint8Array, start: number, kind: BinaryKind): { value: number; end: number } {
  let value = 0
  for (let at = start; at < start + 5; at += 1) {
    const byte = bytes[at]
    if (byte === undefined) throw truncated('the head of a section', start, 1, kind)
    value += (byte & 0x7f) * 2 ** (7 * (at - start))
    if (byte < 0x80 && value < 2 ** 32) return { value, end: at + 1 }
  }
  throw refused('malformed', 'The size of a section exceeds 32 bits.', start, kind)
}

function truncated(what: string, offset: number, missing: number, kind: BinaryKind = 'module'): CaissonError {
  return refused(
    'truncated',
    `The file ends inside of ${what}: at least ${showCount(missing)} bytes are missing. It was cut, or read before it was written; get it again.`,
    offset,
    kind,
  )
}

function refused(reason: string, message: string, offset: number, kind: BinaryKind = 'module'): CaissonError {
  const code = kind === 'component' ? 'invalid_component' : 'invalid_module'
  return new CaissonError(code, `${message} (at byte ${offset})`, { details: { reason, offset } })
}
