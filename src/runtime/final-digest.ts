/**
 * The digest of the state that a guest ended in, for its outcome. A guest may have ended by losing its machine, or
 * while its Worker did not answer: there is no state then, and the outcome is there all the same.
 */
import { CaissonError } from '../base/errors.ts'
import type { Machine } from '../machine/turn.ts'

/** @returns undefined where nobody asked for it, or there is none */
export async function finalDigest(
  machine: Pick<Machine, 'stateDigest'>,
  { stateDigest = false }: { readonly stateDigest?: boolean },
): Promise<string | undefined> {
  if (!stateDigest) return undefined
  try {
    return await machine.stateDigest()
  } catch (error) {
    if (CaissonError.is(error)) return undefined
    throw error
  }
}
