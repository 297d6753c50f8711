/**
 * What a store answers, looked at before it is believed to be even an answer: of the right types, within what was asked
 * for, read once and copied, so that it does not change under whoever looks at it. Whether the bytes are right is asked
 * where they are read.
 */
import { type Digest, isDigest } from '../base/digest.ts'
import { CaissonError } from '../base/errors.ts'
import type { RunHead, RunLease } from '../ports/run-store.ts'

/** Far more links than a chain may have. */
const MOST_CHAIN = 10_000

/** @throws CaissonError `store_failed` */
export function headFrom(answer: unknown): RunHead | undefined {
  if (answer === undefined) return undefined
  const { version, chain, position, summary } = record(answer, 'head')
  if (!isCount(version) || !isCount(position) || !(summary instanceof Uint8Array)) throw noAnswer('head')
  if (!Array.isArray(chain) || chain.length > MOST_CHAIN) throw noAnswer('head')
  const ids: unknown[] = [...chain]
  if (!ids.every(isDigest)) throw noAnswer('head')
  return { version, chain: ids as Digest[], position, summary: new Uint8Array(summary) }
}

/** @throws CaissonError `store_failed` */
export function blobFrom(answer: unknown): Uint8Array | undefined {
  if (answer !== undefined && !(answer instanceof Uint8Array)) throw noAnswer('getBlob')
  return answer
}

/** @throws CaissonError `store_failed` */
export function entriesFrom(answer: unknown, most: number): readonly Uint8Array[] {
  if (!Array.isArray(answer) || answer.length > most) throw noAnswer('entries')
  const entries: unknown[] = [...answer]
  if (!entries.every((entry) => entry instanceof Uint8Array)) throw noAnswer('entries')
  return entries as Uint8Array[]
}

/** @throws CaissonError `store_failed` */
export function namesFrom(answer: unknown): readonly string[] {
  if (!Array.isArray(answer)) throw noAnswer('runs')
  const names: unknown[] = [...answer]
  if (!names.every((name) => typeof name === 'string')) throw noAnswer('runs')
  return names as string[]
}

/** The lease itself: a store may know its own again. @throws CaissonError `store_failed` */
export function leaseFrom(answer: RunLease): RunLease {
  const { held, renew, release } = record(answer, 'lease')
  if ([held, renew, release].some((method) => typeof method !== 'function')) throw noAnswer('lease')
  return answer
}

/** @throws CaissonError `store_failed` */
export function flagFrom(answer: unknown, operation: string): boolean {
  if (typeof answer !== 'boolean') throw noAnswer(operation)
  return answer
}

function record(answer: unknown, operation: string): Readonly<Record<string, unknown>> {
  if (typeof answer !== 'object' || answer === null) throw noAnswer(operation)
  return answer as Record<string, unknown>
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function noAnswer(operation: string): CaissonError {
  return new CaissonError(
    'store_failed',
    `The store answered with something that is no answer (${operation}).`,
    {
      details: { operation },
    },
  )
}
