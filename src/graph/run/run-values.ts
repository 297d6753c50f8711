/**
 * Values of a run: small ones stand in its journal, larger ones beside it under their digests, each once, in pieces
 * where they have long texts.
 *
 * Invariants
 * 1. What is given back is what was kept: bytes that have another digest are refused.
 * 2. A value that cannot be kept is refused when it is kept, and makes nothing unreadable.
 * 3. It is the same whether it comes from memory or from the store: also the order of its members.
 * 4. What is kept was put into the store before an event that names it is written.
 */
import { toBase64 } from '../../base/base64.ts'
import { type Digest, sha256 } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import type { RunStore } from '../../ports/run-store.ts'
import { copyValue } from '../../values/copy-value.ts'
import { decodeCanonical } from '../../values/decode-canonical.ts'
import { type ByteSpan, encodeWithSpans } from '../../values/encode-canonical.ts'
import type { ValueLimits } from '../../values/limits.ts'
import { encodePlain } from '../../values/plain-encoder.ts'
import type { ValueRef } from './run-event.ts'
import { cutValue, joinValue, PIECE_BYTES, partsOf } from './value-pieces.ts'
import type { ValueVault } from './value-vault.ts'

/** Of one value. */
const VALUE_LIMITS: ValueLimits = { bytes: 16 * 1024 * 1024, nodes: 1_000_000, depth: 500 }
/** No value within its limits is encoded as more. */
const ENCODED_BYTES = 64 * 1024 * 1024
/** Larger ones stand beside the journal. */
const INLINE_BYTES = 1_024
/** Bytes of values that are held, so that a chain of nodes reads none of them again. */
const HELD_BYTES = 16 * 1024 * 1024

export class RunValues {
  readonly #store: Pick<RunStore, 'putBlob' | 'getBlob'>
  /** Decoded values by digest, the ones used last at the end. */
  readonly #held = new Map<Digest, { readonly value: unknown; readonly bytes: number }>()
  #heldBytes = 0
  /** Digests that the store has. */
  readonly #stored: Set<Digest>
  /** Those among them that nobody has asked for. */
  #added: Digest[] = []

  /** Where values are encrypted under the key of the run. */
  #vault: ValueVault | undefined

  /** @param stored what the store is known to have */
  constructor(store: Pick<RunStore, 'putBlob' | 'getBlob'>, stored: Iterable<Digest> = []) {
    this.#store = store
    this.#stored = new Set(stored)
  }

  /** From here on values are kept under the key of the run. */
  useVault(vault: ValueVault): void {
    this.#vault = vault
  }

  /** What was put into the store since this was asked last. */
  takeAdded(): readonly Digest[] {
    const added = this.#added
    if (added.length > 0) this.#added = []
    return added
  }

  /** @throws CaissonError `value_refused`, `value_too_large`, `value_too_deep`, `store_failed` */
  async keep(value: unknown): Promise<ValueRef> {
    const plain = this.#vault === undefined ? encodePlain(value, VALUE_LIMITS, true) : undefined
    if (plain !== undefined && plain.bytes.length <= INLINE_BYTES) return { value: plain.copy }
    const { bytes, spans } = encodeWithSpans(value, VALUE_LIMITS, PIECE_BYTES)
    // As whoever reads it will have it: a guest must not see the order in which somebody wrote its members.
    const copy = decodeCanonical(bytes, VALUE_LIMITS)
    if (this.#vault !== undefined) return this.#keepSealed(bytes, spans, copy, this.#vault)
    if (bytes.length <= INLINE_BYTES) return { value: copy }
    const digest = sha256(bytes)
    const cut = cutValue(bytes, spans)
    for (const [id, blob] of cut?.blobs ?? [[digest, bytes] as const]) await this.#put(id, blob)
    this.#hold(digest, copy, bytes.length)
    return { digest, bytes: bytes.length, ...(cut && { pieces: cut.pieces }) }
  }

  /** Small ones too: what stands in the journal itself stands there for good. */
  async #keepSealed(
    bytes: Uint8Array,
    spans: readonly ByteSpan[],
    copy: unknown,
    vault: ValueVault,
  ): Promise<ValueRef> {
    const digest = sha256(bytes)
    const pieces: string[] = []
    for (const part of partsOf(bytes, spans)) {
      const sealed = await vault.seal(part)
      if (part.length <= INLINE_BYTES) pieces.push(toBase64(sealed))
      else {
        const id = sha256(sealed)
        await this.#put(id, sealed)
        pieces.push(id)
      }
    }
    this.#hold(digest, copy, bytes.length)
    return { digest, bytes: bytes.length, pieces, sealed: true }
  }

  async #openSealed(pieces: readonly string[], size: number): Promise<Uint8Array | undefined> {
    const vault = this.#vault
    if (vault === undefined)
      throw new CaissonError('erased', 'The values of the run were erased: its key is gone.')
    return joinValue(
      pieces,
      size,
      (id) => this.#get(id),
      (sealed) => vault.open(sealed),
    )
  }

  async #put(digest: Digest, bytes: Uint8Array): Promise<void> {
    if (this.#stored.has(digest)) return
    await this.#store.putBlob(digest, bytes)
    this.#stored.add(digest)
    this.#added.push(digest)
  }

  /**
   * A copy of the value, or of what stands in it behind own members of these names, one after the other; null where they
   * lead nowhere. It costs what is copied, however large the rest is.
   * @throws CaissonError `corrupted`, `not_found`, `erased`, `store_failed`
   */
  async load(ref: ValueRef, members: readonly (string | number)[] = []): Promise<unknown> {
    return copyValue(behind((await this.#read(ref)).value, members), VALUE_LIMITS)
  }

  /** The value itself: nobody changes it. */
  async #read(ref: ValueRef): Promise<{ readonly value: unknown }> {
    if ('value' in ref) return ref
    const held = this.#held.get(ref.digest)
    if (held !== undefined) return held
    const { digest, bytes: size, pieces = [digest], sealed = false } = ref
    const most = Math.min(size, ENCODED_BYTES)
    const bytes = sealed
      ? await this.#openSealed(pieces, most)
      : await joinValue(pieces, most, (id) => this.#get(id))
    if (bytes === undefined || sha256(bytes) !== digest)
      throw new CaissonError('corrupted', `The value ${digest} of the run was changed in the store.`)
    const value = decodeCanonical(bytes, VALUE_LIMITS)
    this.#hold(digest, value, bytes.length)
    return { value }
  }

  async #get(digest: Digest): Promise<Uint8Array> {
    const bytes = await this.#store.getBlob(digest)
    if (bytes !== undefined) return bytes
    throw new CaissonError('not_found', `The value ${digest} of the run is not in the store.`)
  }

  #hold(digest: Digest, value: unknown, bytes: number): void {
    if (this.#held.has(digest)) return
    this.#held.set(digest, { value, bytes })
    this.#heldBytes += bytes
    for (const [oldest, { bytes: freed }] of this.#held) {
      if (this.#heldBytes <= HELD_BYTES || oldest === digest) return
      this.#held.delete(oldest)
      this.#heldBytes -= freed
    }
  }
}

function behind(value: unknown, members: readonly (string | number)[]): unknown {
  let at = value
  for (const member of members) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, member)) return null
    at = (at as Readonly<Record<string | number, unknown>>)[member]
  }
  return members.length === 0 ? at : (at ?? null)
}
