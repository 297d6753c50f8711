/** What verifying a run takes, and what comes of it. */
import type { Digest } from '../../../base/digest.ts'
import type { SignedReceipt } from '../../../journal/receipt.ts'
import type { RunOptions } from '../../options.ts'
import type { PlanRunParts } from '../plan-run-parts.ts'
import type { RunCut } from '../run-cut.ts'
import type { Erased } from '../run-key.ts'
import type { Difference } from './difference.ts'
import type { Evidence, KnownPoint } from './evidence.ts'

export interface VerifyOptions {
  readonly domain?: string
  readonly principal?: string
  /** Public keys, of 32 bytes, of those whose signatures count. With any, the whole journal has to be signed. Default: none is asked for. */
  readonly signers?: readonly Uint8Array[]
  /** Where the run was seen to stand before (`events` and `point` of a view): a journal that was cut off leads through it no more. */
  readonly known?: readonly KnownPoint[]
  /** Receipts that somebody has: each must be one of this run. */
  readonly receipts?: readonly SignedReceipt[]
  /** Programs at work at once. Default 4. */
  readonly concurrency?: number
  /** Where programs are executed again. Default: in this thread. */
  readonly thread?: RunOptions['thread']
  readonly signal?: AbortSignal
}

/** Something that could not be looked at again, and why. */
export interface Unchecked {
  readonly node: string
  readonly position: number
  readonly why: string
}

export interface Verification {
  /** Whether there is no difference. */
  readonly ok: boolean
  /** The first one. */
  readonly difference: Difference | undefined
  readonly run: string
  /** Events that were looked at. */
  readonly events: number
  /** Where the journal ends: what a later look can be compared with. */
  readonly point: Digest
  /** Programs that were executed again. */
  readonly executed: number
  readonly unchecked: readonly Unchecked[]
  /** Up to where the journal is signed, and by whom (64 hexadecimal digits). Checked only for `signers`. */
  readonly signed: Evidence['signed']
  /** Who erased its values, and when: what follows from them was not looked at. */
  readonly erased: Erased | undefined
  /** Of a run whose journal was cut: what stands in its place. */
  readonly cut: RunCut | undefined
}

/** What there is to verify with. */
export type VerifyParts = Omit<PlanRunParts, 'changed'>
