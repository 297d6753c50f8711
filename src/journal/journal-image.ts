/**
 * Images: what the records of a journal lead to, at one place in it, so that whoever goes on reads only what comes after.
 *
 * An image is a blob beside the journal, sealed as entries are. It names its place and the digest of the last entry before
 * it, which stands for all of them.
 *
 * Invariants
 * 1. An image is taken for one place of one journal of one run, and with a key configured only if it carries it.
 * 2. It is never taken for a journal that is another one than it says: that is an error, and no reason to look elsewhere.
 * 3. Without it nothing is lost: it follows from the records.
 */
import { type Digest, isDigest, sha256 } from '../base/digest.ts'
import { CaissonError } from '../base/errors.ts'
import type { RunStore } from '../ports/run-store.ts'
import { EntrySeal } from '../snapshot/run-log/entry-seal.ts'
import { decodeCanonical } from '../values/decode-canonical.ts'
import { encodeCanonical } from '../values/encode-canonical.ts'
import type { ValueLimits } from '../values/limits.ts'
import type { JournalEnd, JournalOptions } from './journal.ts'

const FORMAT = 'image/1'

/** A larger state has no image: making one would hold up the host. */
export const IMAGE_LIMITS: ValueLimits = { bytes: 16 * 1024 * 1024, nodes: 1_000_000, depth: 300 }
/** No image within its limits is sealed as more. */
const MOST_BYTES = 64 * 1024 * 1024

/** When an image is made: as soon as the journal has grown by one of these since the last one. */
export interface ImagePolicy {
  readonly records?: number
  readonly bytes?: number
}

type Whose = Pick<JournalOptions, 'run' | 'tenant' | 'sealing'>

/** Where a journal stood when the image was made. */
export interface ImagePlace extends JournalEnd {
  readonly digest: Digest
}

export interface JournalImage {
  readonly end: ImagePlace
  /** As it was decoded: to be checked. */
  readonly state: unknown
}

/** @param state its bytes, by `IMAGE_LIMITS` */
export async function sealImage(
  { run, tenant, sealing }: Whose,
  { length, digest }: ImagePlace,
  state: Uint8Array,
): Promise<Uint8Array> {
  const plain = encodeCanonical({ format: FORMAT, length, digest, state }, SEALED_LIMITS, 'image')
  return new EntrySeal(sealing, 'image').seal(plain, { tenant, run, at: length }, true)
}

/** The bytes are one member of what is sealed. */
const SEALED_LIMITS: ValueLimits = { bytes: MOST_BYTES, nodes: 100, depth: 10 }

/**
 * @param at the place that it is said to be for
 * @throws CaissonError `corrupted`, `checkpoint_refused`, `encryption_required`
 */
export async function openImage(
  { run, tenant, sealing }: Whose,
  at: number,
  sealed: Uint8Array,
): Promise<JournalImage> {
  if (sealed.length > MOST_BYTES) throw damaged(run, at, 'it is too large')
  const plain = await new EntrySeal(sealing, 'image').open(sealed, { tenant, run, at })
  try {
    const { format, length, digest, state } = decodeCanonical(plain, SEALED_LIMITS) as Record<string, unknown>
    if (format !== FORMAT || length !== at || !isDigest(digest) || !(state instanceof Uint8Array))
      throw damaged(run, at, 'it is none, or of another place')
    return { end: { length: at, digest }, state: decodeCanonical(state, IMAGE_LIMITS) }
  } catch (cause) {
    if (cause instanceof CaissonError && cause.code === 'corrupted') throw cause
    throw damaged(run, at, CaissonError.is(cause) ? cause.message : 'it is no image')
  }
}

/**
 * The digest of the last of the first `length` entries, as the store has it: it stands for all of them.
 * @returns undefined where there are not so many
 */
export async function digestAt(
  store: Pick<RunStore, 'entries'>,
  run: string,
  length: number,
): Promise<Digest | undefined> {
  const [entry] = length > 0 ? await store.entries(run, length - 1, 1) : []
  return entry && sha256(entry)
}

/** @throws CaissonError `corrupted` where the journal is another one than the image was made of */
export async function checkImagePlace(
  store: Pick<RunStore, 'entries'>,
  run: string,
  { end }: JournalImage,
): Promise<void> {
  const digest = await digestAt(store, run, end.length)
  if (digest === end.digest) return
  const what = digest === undefined ? 'was cut off' : 'was changed'
  throw new CaissonError(
    'corrupted',
    `The journal of run "${run}" ${what}: it is another one, up to entry ${end.length - 1}, than the image of it was made of.`,
    { details: { run, at: end.length - 1 } },
  )
}

function damaged(run: string, at: number, what: string): CaissonError {
  return new CaissonError('corrupted', `The image of run "${run}" after ${at} entries is damaged: ${what}.`, {
    details: { run, at },
  })
}
