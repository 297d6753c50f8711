/**
 * From bytes to a header that may be believed: everything that is decided about a checkpoint before its body is looked
 * at.
 *
 * Invariants
 * 1. The order is: size, magic, version, digest, parts, authentication, limits, expectations, label. Each refusal
 *    names what differs, and none of them what it would have to be, where that is somebody else's.
 */
import type { Digest } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import { PAGE_BYTES } from '../page-tree.ts'
import type { CheckpointExpectation, CheckpointHeader, DecodeOptions } from './checkpoint.ts'
import { checkKeys, findKey } from './checkpoint-keys.ts'
import { type CheckpointLimits, checkLimit, parseCheckpointLimits } from './checkpoint-limits.ts'
import { type ContainerParts, checkAuthentic, splitContainer } from './container-parts.ts'
import type { ContainerHeader } from './header-codec.ts'
import type { Pacer } from './pacer.ts'
import { damaged, refused } from './refusals.ts'

/** @throws CaissonError `checkpoint_too_large`, `corrupted`, `checkpoint_refused`, `engine_mismatch`, `encryption_required` */
export async function openContainer(
  bytes: Uint8Array,
  options: DecodeOptions,
  pacer: Pacer,
): Promise<ContainerParts> {
  const { ports, keys = {}, expect = {} } = options
  const limits = parseCheckpointLimits(options.limits)
  checkKeys(keys)
  const splitting = splitContainer(bytes, limits, ports.hash, pacer)
  const parts = splitting instanceof Promise ? await splitting : splitting
  const checking = checkAuthentic(parts, keys, ports.hash, pacer)
  if (checking !== undefined) await checking
  checkPossible(parts.header, limits)
  checkExpected(parts.id, parts.header, expect)
  if (parts.header.label === 'secret' && parts.header.encryptionKey === undefined) {
    throw new CaissonError('encryption_required', 'The checkpoint may hold secrets and is not encrypted.')
  }
  return parts
}

/** The body, decrypted: a promise if it was encrypted. @throws CaissonError `checkpoint_refused`, or rejects with it */
export function openBody(parts: ContainerParts, options: DecodeOptions): Uint8Array | Promise<Uint8Array> {
  const { encryptionKey, nonce } = parts.header
  return encryptionKey === undefined || nonce === undefined
    ? parts.body
    : decrypted(parts, encryptionKey, nonce, options)
}

async function decrypted(
  { head, body }: ContainerParts,
  encryptionKey: string,
  nonce: Uint8Array,
  options: DecodeOptions,
): Promise<Uint8Array> {
  const key = findKey(options.keys?.encryption, encryptionKey)
  if (key === undefined) {
    throw refused('encryptionKey', 'The checkpoint is encrypted with a key that is not configured here.')
  }
  const plain = await options.ports.cipher.decrypt(key.bytes, nonce, head, body)
  if (plain === undefined)
    throw refused('encryption', 'The checkpoint cannot be decrypted with the key that it names.')
  return plain
}

function checkPossible(header: ContainerHeader, limits: CheckpointLimits): void {
  checkLimit(limits, 'maxLinks', header.links)
  checkLimit(limits, 'maxMemoryBytes', header.memoryBytes)
  checkLimit(limits, 'maxStateBytes', header.stateBytes)
  if ((header.parent === undefined) !== (header.links === 0)) {
    throw damaged('header', 'it has a parent and stands alone.')
  }
  if (header.memoryBytes % 65_536 !== 0 || header.pages > header.memoryBytes / PAGE_BYTES) {
    throw damaged('header', 'it has more pages than its memory, or a part of one.')
  }
}

const DIFFERENCES: readonly (readonly [keyof CheckpointExpectation & keyof CheckpointHeader, string])[] = [
  ['tenant', 'The checkpoint belongs to another tenant.'],
  ['run', 'The checkpoint belongs to another run.'],
  ['principal', 'The checkpoint belongs to another principal.'],
]

function checkExpected(id: Digest, header: CheckpointHeader, expect: CheckpointExpectation): void {
  for (const [name, message] of DIFFERENCES) {
    if (expect[name] !== undefined && expect[name] !== header[name]) throw refused(name, message)
  }
  for (const name of ['engine', 'base'] as const) {
    const wanted = expect[name]
    if (wanted !== undefined && wanted !== header[name]) {
      throw new CaissonError(
        'engine_mismatch',
        `The checkpoint needs the ${name === 'engine' ? 'engine' : 'base image'} ${header[name]}, and here is ${wanted}.`,
        { details: { differs: name, needed: header[name], found: wanted } },
      )
    }
  }
  const { minSequence = 0 } = expect
  if (header.sequence < minSequence) {
    throw refused(
      'sequence',
      `The checkpoint is older than one that was gone on from: ${header.sequence} < ${minSequence}.`,
      {
        sequence: header.sequence,
        minSequence,
      },
    )
  }
  if (expect.id !== undefined && expect.id !== id)
    throw refused('id', 'It is another checkpoint than the one asked for.')
}
