/**
 * What every store checks of what it is given, before it touches anything: the same arguments are refused by all of
 * them, with the same words.
 */
import type { Digest } from '../../src/base/digest.ts'
import { CaissonError } from '../../src/base/errors.ts'
import type { CollectOptions, RunHead } from '../../src/ports/run-store.ts'

/** Longest name of a run, in characters. */
const MAX_RUN_NAME = 128
/** Largest summary of a head, in bytes. */
export const MAX_SUMMARY_BYTES: number = 16 * 1024
/** Longest chain of a head, in checkpoints. */
export const MAX_CHAIN: number = 1_024
/** Largest entry of a log, in bytes. */
const MAX_ENTRY_BYTES = 64 * 1024 * 1024
/** Largest sum of the entries that are appended together, in bytes. */
const MAX_APPEND_BYTES = 256 * 1024 * 1024
/** Largest checkpoint, in bytes. */
export const MAX_BLOB_BYTES: number = 512 * 1024 * 1024
/** Longest time of a lease: a day. */
export const MAX_TTL_MS: number = 24 * 60 * 60 * 1000
/** How long a checkpoint that no head needs stays, unless somebody says otherwise. */
const DEFAULT_GRACE_MS = 60 * 60 * 1000

const RUN_NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/
const DIGEST = /^sha256:[0-9a-f]{64}$/

/** @throws CaissonError `invalid_argument` */
export function checkRunName(run: string): void {
  if (typeof run === 'string' && run.length <= MAX_RUN_NAME && RUN_NAME.test(run)) return
  refuse(
    `The name of a run is 1 to ${MAX_RUN_NAME} of the characters A-Z a-z 0-9 . _ - and does not begin with a dot.`,
  )
}

/** @throws CaissonError `invalid_argument` */
export function checkDigest(id: Digest): void {
  if (typeof id === 'string' && DIGEST.test(id)) return
  refuse('A digest is "sha256:" and 64 lower-case hexadecimal digits.')
}

/** @throws CaissonError `invalid_argument` */
export function checkBlob(id: Digest, bytes: Uint8Array): void {
  checkDigest(id)
  checkBytes(bytes)
  if (bytes.byteLength > MAX_BLOB_BYTES) refuse(`A checkpoint has at most ${MAX_BLOB_BYTES} bytes.`)
}

function checkBytes(bytes: Uint8Array): void {
  if (!(bytes instanceof Uint8Array)) refuse('Bytes are a Uint8Array.')
}

/** @throws CaissonError `invalid_argument` */
export function checkHead(head: RunHead): void {
  if (!isWhole(head.version) || head.version < 1) refuse('The version of a head is a whole number from 1.')
  if (!isWhole(head.position)) refuse('The position of a head is a whole number from 0.')
  if (!Array.isArray(head.chain) || head.chain.length > MAX_CHAIN) {
    refuse(`The chain of a head is a list of at most ${MAX_CHAIN} digests.`)
  }
  for (const id of head.chain) checkDigest(id)
  checkBytes(head.summary)
  if (head.summary.byteLength > MAX_SUMMARY_BYTES) {
    refuse(`The summary of a head has at most ${MAX_SUMMARY_BYTES} bytes.`)
  }
}

/** A copy that nobody else changes. @throws CaissonError `invalid_argument` */
export function checkedHead(head: RunHead): RunHead {
  checkHead(head)
  return copyHead(head)
}

/** With a chain and a summary of its own. */
export function copyHead({ version, chain, position, summary }: RunHead): RunHead {
  return { version, chain: [...chain], position, summary: new Uint8Array(summary) }
}

/**
 * A head as it was found in a store: what nobody could have put there is damage, not the mistake of who asks.
 * @throws CaissonError `corrupted`
 */
export function foundHead(run: string, head: RunHead): RunHead {
  try {
    checkHead(head)
  } catch (cause) {
    throw new CaissonError('corrupted', 'The store is damaged: the head of a run is none.', {
      details: { run },
      cause,
    })
  }
  return head
}

/**
 * How long a lease that was found in a store lasts at most.
 * @throws CaissonError `corrupted` for a time that no lease was ever given for
 */
export function foundTtl(run: string, ttlMs: number): number {
  if (ttlMs > 0 && ttlMs <= MAX_TTL_MS) return ttlMs
  throw new CaissonError('corrupted', 'The store is damaged: a lease has a time that none lasts.', {
    details: { run },
  })
}

/** @throws CaissonError `invalid_argument` */
export function checkEntries(at: number, entries: readonly Uint8Array[]): void {
  if (!isWhole(at)) refuse('Entries are appended at a whole number from 0.')
  let total = 0
  for (const entry of entries) {
    checkBytes(entry)
    if (entry.byteLength > MAX_ENTRY_BYTES) refuse(`An entry has at most ${MAX_ENTRY_BYTES} bytes.`)
    total += entry.byteLength
  }
  if (total > MAX_APPEND_BYTES) refuse(`Entries appended together have at most ${MAX_APPEND_BYTES} bytes.`)
}

/** Copies that nobody else changes. @throws CaissonError `invalid_argument` */
export function checkedEntries(at: number, entries: readonly Uint8Array[]): readonly Uint8Array[] {
  checkEntries(at, entries)
  return entries.map((entry) => new Uint8Array(entry))
}

/** @throws CaissonError `invalid_argument` */
export function checkRange(from: number, most: number): void {
  if (!isWhole(from) || !isWhole(most)) refuse('Entries are read from and by whole numbers from 0.')
}

/** @throws CaissonError `invalid_argument` */
export function checkTtl(ttlMs: number): void {
  if (Number.isFinite(ttlMs) && ttlMs > 0 && ttlMs <= MAX_TTL_MS) return
  refuse(`A lease lasts more than 0 and at most ${MAX_TTL_MS} milliseconds.`)
}

/** The grace time of a collection. @throws CaissonError `invalid_argument` */
export function graceOf(options: CollectOptions | undefined): number {
  const graceMs = options?.graceMs ?? DEFAULT_GRACE_MS
  if (!Number.isFinite(graceMs) || graceMs < 0) refuse('A grace time is a number of milliseconds from 0.')
  return graceMs
}

function isWhole(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}

function refuse(message: string): never {
  throw new CaissonError('invalid_argument', message)
}
