/**
 * A container taken apart, and put together: what lies where, the digest over all of it, and the MAC.
 *
 * Invariants
 * 1. Nothing of a container is looked at before the digest over all of its bytes was found right, but for its size,
 *    its magic and its version.
 * 2. Its parts fill it exactly.
 */
import { type Digest, digestOf } from '../../base/digest.ts'
import type { Hash, HashStream } from '../../ports/hash.ts'
import { sameBytes } from '../same-bytes.ts'
import { type CheckpointKey, type CheckpointKeys, findKey } from './checkpoint-keys.ts'
import { type CheckpointLimits, checkLimit } from './checkpoint-limits.ts'
import {
  DIGEST_BYTES,
  FLAG,
  FORMAT_VERSION,
  KNOWN_FLAGS,
  MAGIC,
  PREAMBLE,
  PREAMBLE_BYTES,
} from './container-format.ts'
import { type ContainerHeader, decodeHeader } from './header-codec.ts'
import { isOneStep, joinInSteps, type Pacer, steps } from './pacer.ts'
import { damaged, refused } from './refusals.ts'

/** A container whose digest is right. Its header and body are views of the bytes. */
export interface ContainerParts {
  readonly id: Digest
  readonly header: ContainerHeader
  /** Preamble and header, which an encrypted body is bound to. */
  readonly head: Uint8Array
  readonly body: Uint8Array
  /** Everything that the MAC is over, and the MAC. */
  readonly authenticated?: { readonly bytes: Uint8Array; readonly mac: Uint8Array }
}

/** Preamble and header of a container. */
export function joinHead(flags: number, header: Uint8Array, bodyBytes: number): Uint8Array {
  const head = new Uint8Array(PREAMBLE_BYTES + header.length)
  const view = new DataView(head.buffer)
  head.set(MAGIC, PREAMBLE.magic)
  head[PREAMBLE.version] = FORMAT_VERSION
  head[PREAMBLE.flags] = flags
  view.setUint16(PREAMBLE.headerBytes, header.length, true)
  view.setUint32(PREAMBLE.bodyBytes, bodyBytes, true)
  head.set(header, PREAMBLE_BYTES)
  return head
}

/** Preamble, header and body with the MAC, if there is a key for it, and the digest. */
export async function joinContainer(
  head: Uint8Array,
  body: readonly Uint8Array[],
  key: CheckpointKey | undefined,
  hash: Hash,
  pacer: Pacer,
): Promise<{ readonly id: Digest; readonly bytes: Uint8Array }> {
  const macBytes = key === undefined ? 0 : DIGEST_BYTES
  const joining = joinInSteps([head, ...body], pacer, macBytes + DIGEST_BYTES)
  const bytes = joining instanceof Promise ? await joining : joining
  const digestAt = bytes.length - DIGEST_BYTES
  const contentBytes = digestAt - macBytes
  if (key !== undefined) {
    const taking = macInSteps(hash, key, bytes.subarray(0, contentBytes), pacer)
    bytes.set(taking instanceof Promise ? await taking : taking, contentBytes)
  }
  const digesting = digestInSteps(hash, bytes.subarray(0, digestAt), pacer)
  const digest = digesting instanceof Promise ? await digesting : digesting
  bytes.set(digest, digestAt)
  return { id: digestOf(digest), bytes }
}

/**
 * Takes a container apart: at once if it is small, since each promise takes as long as reading a header.
 * @throws CaissonError `checkpoint_too_large`, `corrupted`, or rejects with it
 */
export function splitContainer(
  bytes: Uint8Array,
  limits: CheckpointLimits,
  hash: Hash,
  pacer: Pacer,
): ContainerParts | Promise<ContainerParts> {
  checkLimit(limits, 'maxFileBytes', bytes.length)
  if (bytes.length < PREAMBLE_BYTES + DIGEST_BYTES) throw damaged('length', 'it is too short to be one.')
  if (!sameBytes(bytes.subarray(0, MAGIC.length), MAGIC)) throw damaged('magic', 'it does not begin as one.')
  const version = bytes[PREAMBLE.version]
  if (version !== FORMAT_VERSION) {
    throw damaged(
      'version',
      `it says that its format is version ${version}, and ${FORMAT_VERSION} is the newest that can be read here.`,
    )
  }
  const digesting = digestInSteps(hash, bytes.subarray(0, bytes.length - DIGEST_BYTES), pacer)
  return digesting instanceof Promise
    ? digesting.then((digest) => digestedParts(bytes, digest))
    : digestedParts(bytes, digesting)
}

function digestedParts(bytes: Uint8Array, digest: Uint8Array): ContainerParts {
  if (!sameBytes(digest, bytes.subarray(bytes.length - DIGEST_BYTES))) {
    throw damaged('digest', 'its digest does not fit its bytes.')
  }
  return partsOf(bytes, digestOf(digest))
}

function partsOf(bytes: Uint8Array, id: Digest): ContainerParts {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const flags = view.getUint8(PREAMBLE.flags)
  if ((flags & ~KNOWN_FLAGS) !== 0) throw damaged('flags', 'it has flags that this version does not know.')
  const bodyAt = PREAMBLE_BYTES + view.getUint16(PREAMBLE.headerBytes, true)
  const end = bodyAt + view.getUint32(PREAMBLE.bodyBytes, true)
  const hasMac = (flags & FLAG.authenticated) !== 0
  if (end + (hasMac ? DIGEST_BYTES : 0) + DIGEST_BYTES !== bytes.length) {
    throw damaged('length', 'its parts do not add up to its length.')
  }
  const header = decodeHeader(bytes.subarray(PREAMBLE_BYTES, bodyAt), flags)
  const head = bytes.subarray(0, bodyAt)
  const body = bytes.subarray(bodyAt, end)
  if (!hasMac) return { id, header, head, body }
  const authenticated = { bytes: bytes.subarray(0, end), mac: bytes.subarray(end, end + DIGEST_BYTES) }
  return { id, header, head, body, authenticated }
}

/**
 * Whether the container was written by somebody who has a key.
 *
 * Where keys are configured, only what is authenticated with one of them is taken. Where none are, only what is not
 * authenticated: a host that lost its configuration learns of it here, and not from a forged checkpoint.
 * @returns a promise where that takes more than a step
 * @throws CaissonError `checkpoint_refused`, or rejects with it
 */
export function checkAuthentic(
  { header, authenticated }: ContainerParts,
  keys: CheckpointKeys,
  hash: Hash,
  pacer: Pacer,
): void | Promise<void> {
  if (authenticated === undefined) {
    if (keys.mac === undefined) return
    throw refused(
      'authentication',
      'The checkpoint is not authenticated, and a key to authenticate is configured.',
    )
  }
  const key = findKey(keys.mac, header.macKey ?? '')
  if (key === undefined) {
    throw refused('macKey', 'The checkpoint is authenticated with a key that is not configured here.')
  }
  const { bytes, mac } = authenticated
  const taking = macInSteps(hash, key, bytes, pacer)
  if (taking instanceof Promise) return taking.then((found) => checkMac(found, mac))
  checkMac(taking, mac)
}

function checkMac(found: Uint8Array, mac: Uint8Array): void {
  if (!sameBytes(found, mac)) {
    throw refused('mac', 'The checkpoint was not written by somebody who has the key.')
  }
}

function macInSteps(
  hash: Hash,
  key: CheckpointKey,
  bytes: Uint8Array,
  pacer: Pacer,
): Uint8Array | Promise<Uint8Array> {
  if (isOneStep(bytes.length)) return hash.hmacSha256(key.bytes, bytes)
  return inSteps(hash.openHmacSha256(key.bytes), bytes, pacer)
}

function digestInSteps(hash: Hash, bytes: Uint8Array, pacer: Pacer): Uint8Array | Promise<Uint8Array> {
  if (isOneStep(bytes.length)) return hash.sha256(bytes)
  return inSteps(hash.openSha256(), bytes, pacer)
}

async function inSteps(stream: HashStream, bytes: Uint8Array, pacer: Pacer): Promise<Uint8Array> {
  for (const step of steps(bytes)) {
    stream.update(step)
    await pacer.spend(step.length)
  }
  return stream.digest()
}
