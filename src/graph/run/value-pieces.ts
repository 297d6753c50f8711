/**
 * The canonical bytes of a large value in pieces, so that values that have much in common have it in the store once: a
 * state of which every step changes a number, a text that is handed on from node to node.
 *
 * Invariants
 * 1. A value has the same pieces wherever it is cut, and its digest is that of all its bytes, cut or not.
 * 2. What is joined is compared with the digest of the value: that of each piece need not be.
 */

import { fromBase64, toBase64 } from '../../base/base64.ts'
import { concatBytes } from '../../base/bytes.ts'
import { type Digest, isDigest, sha256 } from '../../base/digest.ts'
import type { ByteSpan } from '../../values/encode-canonical.ts'

/** Texts and buffers of so many bytes are pieces of their own, and what is between them where it is as large. */
export const PIECE_BYTES = 1_024
/** Texts and buffers that are cut out; further ones stay in what is around them. */
const MOST_CUTS = 16

/** What an event says of a value that was cut, and what the store must have for it. */
export interface CutValue {
  readonly pieces: readonly string[]
  readonly blobs: ReadonlyMap<Digest, Uint8Array>
}

/** @param spans of long texts and buffers. @returns undefined where there are none */
export function cutValue(bytes: Uint8Array, spans: readonly ByteSpan[]): CutValue | undefined {
  if (spans.length === 0) return undefined
  const pieces: string[] = []
  const blobs = new Map<Digest, Uint8Array>()
  for (const part of partsOf(bytes, spans)) {
    if (part.length < PIECE_BYTES) {
      pieces.push(toBase64(part))
      continue
    }
    const digest = sha256(part)
    pieces.push(digest)
    blobs.set(digest, part)
  }
  return { pieces, blobs }
}

/** The bytes, cut at long texts and buffers: none of the parts is empty. */
export function partsOf(bytes: Uint8Array, spans: readonly ByteSpan[]): readonly Uint8Array[] {
  const parts: Uint8Array[] = []
  const add = (from: number, to: number): void => {
    if (to > from) parts.push(bytes.subarray(from, to))
  }
  let at = 0
  for (const [from, to] of spans.slice(0, MOST_CUTS)) {
    add(at, from)
    add(from, to)
    at = to
  }
  add(at, bytes.length)
  return parts
}

/**
 * The bytes of a value.
 * @param load of what is in the store; what it throws is thrown
 * @param open of pieces that are encrypted; undefined for what was changed
 * @returns undefined where they are not those of the value
 */
export async function joinValue(
  pieces: readonly string[],
  size: number,
  load: (digest: Digest) => Promise<Uint8Array>,
  open?: (sealed: Uint8Array) => Promise<Uint8Array | undefined>,
): Promise<Uint8Array | undefined> {
  const parts: Uint8Array[] = []
  let length = 0
  for (const piece of pieces) {
    const stored = isDigest(piece) ? await load(piece) : fromBase64(piece)
    const part = open === undefined ? stored : await open(stored)
    if (part === undefined) return undefined
    length += part.length
    if (length > size) return undefined
    parts.push(part)
  }
  return concatBytes(parts, length)
}
