/** Receipts that somebody has of a run, compared with those that its journal gives. */
import { sha256 } from '../../../base/digest.ts'
import { encodeReceipt, type Receipt, receiptProblem, type SignedReceipt } from '../../../journal/receipt.ts'
import type { SignatureCheck } from '../../../ports/signer.ts'
import { Differs } from './difference.ts'

/** Receipts that somebody has, by the places that they name. */
export class GivenReceipts {
  readonly #given: Map<number, SignedReceipt[]> = new Map()

  constructor(receipts: readonly SignedReceipt[]) {
    for (const one of receipts) {
      const { position } = one.receipt.journal
      this.#given.set(position, [...(this.#given.get(position) ?? []), one])
    }
  }

  wants(position: number): boolean {
    return this.#given.has(position)
  }

  /**
   * @param signers whose signatures count; without any, none is looked at
   * @param isErased its values were: what only they say is taken from the receipt that is given
   * @throws Differs
   */
  async check(
    receipt: Receipt,
    signers: readonly Uint8Array[],
    signatures: SignatureCheck | undefined,
    isErased: boolean = false,
  ): Promise<void> {
    const { position } = receipt.journal
    for (const given of this.#given.get(position) ?? []) {
      const { calls, artifacts } = given.receipt
      const lost = isErased
        ? { artifacts, ...(receipt.program !== undefined && receipt.calls.length === 0 && { calls }) }
        : {}
      const digest = sha256(encodeReceipt({ ...receipt, ...lost }))
      const found = sha256(encodeReceipt(given.receipt))
      if (found !== digest || given.digest !== digest)
        throw forged(position, receipt.node, 'is not of this run')
      if (signers.length === 0 || signatures === undefined) continue
      const problem = await receiptProblem(given, signers, signatures)
      if (problem !== undefined) throw forged(position, receipt.node, problem)
    }
    this.#given.delete(position)
  }

  /** @throws Differs for a receipt of a place at which nothing ended */
  checkAllMet(events: number): void {
    const [position] = this.#given.keys()
    if (position === undefined) return
    throw forged(Math.min(position, events), undefined, `names entry ${position}, at which no attempt ended`)
  }
}

function forged(position: number, node: string | undefined, problem: string): Differs {
  const whose = node === undefined ? '' : ` of node "${node}"`
  const message = `Entry ${position}: a receipt${whose} ${problem}.`
  return new Differs({ of: 'receipt', position, ...(node !== undefined && { node }), message })
}
