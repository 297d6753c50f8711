/** Where the random numbers of a program of a plan come from. */
import { sha256Bytes } from '../../base/digest.ts'

/** Equal for every process that goes on with an attempt, and different for any other. */
export function programSeed(guestId: string, path: string, attempt: number): Uint8Array {
  return sha256Bytes(new TextEncoder().encode(JSON.stringify(['program seed 1', guestId, path, attempt])))
}
