/** What an uncaught error is about: its own code, or that of what caused it. */
import type { GuestError } from '../machine/turn.ts'

/** Causes are looked through; a guest's chain of them is as long as it likes. */
const MOST_CAUSES = 8

/** The first code there is. `fetch` throws a TypeError, as it must, and the refused call is the cause of it. */
export function failureCode(error: GuestError): string | undefined {
  let at: GuestError | undefined = error
  for (let depth = 0; at !== undefined && depth <= MOST_CAUSES; depth++) {
    if (at.code !== undefined) return at.code
    at = at.cause
  }
  return undefined
}
