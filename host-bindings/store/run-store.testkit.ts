/** What tests put into stores. */
import { type Digest, sha256 } from '../../src/base/digest.ts'
import type { RunHead, RunStore } from '../../src/ports/run-store.ts'

/** Of leases that do not run out in a test. */
export const HOUR_MS = 3_600_000

export function text(value: string): Uint8Array {
  return new TextEncoder().encode(value)
}

/** A head that includes nothing of a log. */
export function headOf(version: number, ...chain: Digest[]): RunHead {
  return { version, chain, position: 0, summary: text('') }
}

/** Puts a checkpoint of these bytes. @returns its name */
export async function put(store: RunStore, bytes: Uint8Array): Promise<Digest> {
  const id = sha256(bytes)
  await store.putBlob(id, bytes)
  return id
}
