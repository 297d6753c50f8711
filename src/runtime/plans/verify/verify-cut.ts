/** Verifies what is left of a run whose journal was cut: that it is what its statement says, and that this is signed. */
import { toHex } from '../../../base/bytes.ts'
import { sha256 } from '../../../base/digest.ts'
import { CaissonError } from '../../../base/errors.ts'
import { encodeReceipt, receiptProblem } from '../../../journal/receipt.ts'
import type { TrustedSigners } from '../../../snapshot/run-log/entry-seal.ts'
import type { RunOwner } from '../../run-owner.ts'
import { PlanShelf, pointOf } from '../plan-record.ts'
import { readCut, type SealedCut, standingOfCut } from '../run-cut.ts'
import { type Erased, isSealed } from '../run-key.ts'
import { type Difference, Differs } from './difference.ts'
import { readKey } from './key-check.ts'
import type { Verification, VerifyOptions, VerifyParts } from './verification.ts'

/** @returns undefined for a run that has a journal, or was never cut. @throws CaissonError `store_failed` */
export async function verifyCut(
  parts: VerifyParts,
  owner: RunOwner,
  options: VerifyOptions,
  trusted: TrustedSigners | undefined,
): Promise<Verification | undefined> {
  const { store } = parts
  if (await hasJournal(parts, owner)) return undefined
  const sealing = { ...parts.sealing, ...(trusted && { trusted }) }
  let sealed: SealedCut | undefined
  let difference: Difference | undefined
  let erased: Erased | undefined
  try {
    sealed = await readCut({ store, sealing }, owner)
    if (sealed === undefined) return undefined
    if (trusted !== undefined && sealed.signedBy === undefined)
      throw new Differs({
        of: 'signature',
        position: 0,
        message: 'That its journal was cut is signed by nobody.',
      })
    // Read again, and not from what this process remembers.
    const standing = await standingOfCut({ ...parts, plans: new PlanShelf() }, owner)
    if (standing !== undefined && isSealed(standing.state)) {
      const { erased: gone, difference: damage } = await readKey({ store, sealing }, owner, standing.state)
      if (damage !== undefined) throw new Differs(damage)
      erased = gone
    }
    checkKnown(owner, sealed, options)
    await checkReceipts(parts, sealed, options)
  } catch (error) {
    difference = differenceOf(error)
  }
  const { cut, signedBy } = sealed ?? { cut: undefined, signedBy: undefined }
  const entries = cut?.entries ?? 0
  return {
    ok: difference === undefined,
    difference,
    run: owner.run,
    events: entries,
    point: pointOf(owner, { length: entries, digest: cut?.journal }),
    executed: 0,
    unchecked: [
      {
        node: '',
        position: 0,
        why: `Its journal of ${entries} entries was cut: what it said is not there any more.`,
      },
    ],
    signed: signedBy && { events: entries, by: [toHex(signedBy)] },
    erased,
    cut,
  }
}

/** One that its store finds damaged is there: what is wrong with it is said by who reads it. */
async function hasJournal({ store }: VerifyParts, { run }: RunOwner): Promise<boolean> {
  try {
    return (await store.entries(run, 0, 1)).length > 0
  } catch (error) {
    if (CaissonError.is(error, 'corrupted')) return true
    throw error
  }
}

function checkKnown(owner: RunOwner, { cut }: SealedCut, { known = [] }: VerifyOptions): void {
  const { entries, journal } = cut
  const point = pointOf(owner, { length: entries, digest: journal })
  const other = known.find((one) => one.events > entries || (one.events === entries && one.point !== point))
  if (other === undefined) return
  const message = `The journal was cut at ${entries} entries, and led through another point after ${other.events}.`
  throw new Differs({ of: 'point', position: Math.max(0, entries - 1), recorded: other.point, message })
}

async function checkReceipts(
  { signatures }: VerifyParts,
  { cut }: SealedCut,
  { receipts = [], signers = [] }: VerifyOptions,
): Promise<void> {
  const known = new Set(cut.receipts)
  for (const given of receipts) {
    const { position } = given.receipt.journal
    const digest = sha256(encodeReceipt(given.receipt))
    const problem =
      !known.has(digest) || given.digest !== digest
        ? 'is not of this run'
        : signers.length > 0 && signatures !== undefined
          ? await receiptProblem(given, signers, signatures)
          : undefined
    if (problem === undefined) continue
    throw new Differs({ of: 'receipt', position, message: `Entry ${position}: a receipt ${problem}.` })
  }
}

/** @throws what is not about what was read */
function differenceOf(error: unknown): Difference {
  if (error instanceof Differs) return error.difference
  if (!CaissonError.is(error) || error.code === 'store_failed') throw error
  const of = error.details.differs === 'signature' ? 'signature' : 'journal'
  return { of, position: 0, message: error.message }
}
