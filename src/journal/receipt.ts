/**
 * Receipts: what one attempt of a node of a plan did, for somebody who was not there and has nothing else.
 *
 * A receipt holds digests, and no values. It follows from the journal of its run and names its place there; a signature
 * under it is the host's word for that, without the journal.
 *
 * Invariants
 * 1. A receipt has one encoding, and so one digest: two are the same receipt only if all of it is the same.
 * 2. What is signed is that encoding, under words of its own: a signature of a receipt is none of anything else.
 */
import { fromHex, toHex } from '../base/bytes.ts'
import { type Digest, sha256 } from '../base/digest.ts'
import type { SignatureCheck, Signer } from '../ports/signer.ts'
import { encodeCanonical } from '../values/encode-canonical.ts'
import type { ValueLimits } from '../values/limits.ts'

/** Names the form of receipts, and its version. */
export const RECEIPT_FORMAT = 'receipt/1'

const RECEIPT_LIMITS: ValueLimits = { bytes: 64 * 1024 * 1024, nodes: 4_000_000, depth: 20 }

/** One call, as it was let in and as it ended. */
export interface ReceiptCall {
  readonly call: number
  readonly capability: string
  /** Of the final arguments: exactly what was invoked. */
  readonly args: Digest | undefined
  /** Of the result. Neither this nor a code: how it ended is not known. */
  readonly result?: Digest
  /** Code of the error. */
  readonly error?: string
}

export interface Receipt {
  readonly format: typeof RECEIPT_FORMAT
  readonly tenant: string
  /** Name of the run, and what is unique about it. */
  readonly run: string
  readonly runId: string
  /** Path of the node; with `#undo` at its end for what undid it. */
  readonly node: string
  readonly kind: string
  readonly attempt: number
  readonly plan: Digest
  /** Of a program: of its source, its language and its modules. */
  readonly program?: Digest
  /** Id of the engine build that executed it. */
  readonly engine?: string
  readonly input: Digest
  readonly calls: readonly ReceiptCall[]
  /** The type of the event that ended it. */
  readonly ended: string
  readonly output?: Digest
  readonly error?: { readonly class: string; readonly code: string }
  readonly fuel?: number
  /** Of the state that a program ended in, where the host takes it. */
  readonly state?: string
  /** Of a kept run: where its log ended. */
  readonly log?: { readonly entries: number; readonly digest: Digest }
  /** Digests of artifacts that its calls gave. */
  readonly artifacts: readonly string[]
  /** Milliseconds since the epoch, by the host that wrote it down. */
  readonly startedAtMs: number
  readonly endedAtMs: number
  /** Where the journal says so: the number of that entry, and its digest, which stands for all up to it. */
  readonly journal: { readonly position: number; readonly digest: Digest }
}

export interface SignedReceipt {
  readonly receipt: Receipt
  readonly digest: Digest
  /** Public key of who signed it, 64 hexadecimal digits. Without a signature only the journal vouches for it. */
  readonly signedBy?: string
  /** 128 hexadecimal digits. */
  readonly signature?: string
}

/** Its one encoding. @throws CaissonError `value_refused` for what is no receipt */
export function encodeReceipt(receipt: Receipt): Uint8Array {
  return encodeCanonical(receipt, RECEIPT_LIMITS, 'receipt')
}

/** @param signer left out, it is not signed */
export async function signReceipt(receipt: Receipt, signer: Signer | undefined): Promise<SignedReceipt> {
  const bytes = encodeReceipt(receipt)
  const digest = sha256(bytes)
  if (signer === undefined) return { receipt, digest }
  const signature = toHex(await signer.sign(signedBytes(bytes)))
  return { receipt, digest, signedBy: toHex(signer.publicKey), signature }
}

/** What is wrong with a receipt by itself, as the end of a sentence; undefined for one that one of `keys` has signed. */
export async function receiptProblem(
  { receipt, digest, signedBy, signature }: SignedReceipt,
  keys: readonly Uint8Array[],
  check: SignatureCheck,
): Promise<string | undefined> {
  const bytes = encodeReceipt(receipt)
  if (sha256(bytes) !== digest) return 'has another digest than it says'
  if (signedBy === undefined || signature === undefined) return 'is not signed'
  const key = keys.find((one) => toHex(one) === signedBy)
  if (key === undefined) return `is signed by ${signedBy.slice(0, 64)}, who is not trusted`
  if (!/^[0-9a-f]{128}$/.test(signature)) return 'has a signature that is none'
  const isSigned = await check.isSigned(signedBytes(bytes), fromHex(signature), key)
  return isSigned ? undefined : 'has a signature that is wrong'
}

function signedBytes(bytes: Uint8Array): Uint8Array {
  const words = new TextEncoder().encode('caisson receipt 1\n')
  const all = new Uint8Array(words.length + bytes.length)
  all.set(words)
  all.set(bytes, words.length)
  return all
}
