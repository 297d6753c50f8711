/** A kept run on its way from one store to another: a checkpoint, and the log with every recorded answer. */
import { fromBase64, toBase64 } from '../../src/base/base64.ts'
import type { RunHead, RunStore } from '../../src/entry/exports.ts'

/** Plain JSON. */
export interface PackedRun {
  readonly run: string
  readonly chain: RunHead['chain']
  /** Entries of the log that the checkpoint includes. */
  readonly position: number
  /** The checkpoints of the chain, in base64. */
  readonly checkpoints: readonly string[]
  /** All entries of the log, in base64. */
  readonly entries: readonly string[]
}

const ENTRIES_AT_ONCE = 500
const LEASE_MS = 10_000

/** @param head which checkpoint: any one of the run, as long as its store still has it */
export async function packRun(store: RunStore, run: string, head: RunHead): Promise<PackedRun> {
  const checkpoints = await Promise.all(
    head.chain.map(async (id) => {
      const bytes = await store.getBlob(id)
      if (bytes === undefined) throw new Error(`The store has no checkpoint ${id} any more.`)
      return toBase64(bytes)
    }),
  )
  const entries: string[] = []
  for (;;) {
    const some = await store.entries(run, entries.length, ENTRIES_AT_ONCE)
    entries.push(...some.map(toBase64))
    if (some.length < ENTRIES_AT_ONCE) break
  }
  return { run, chain: head.chain, position: head.position, checkpoints, entries }
}

/** Puts the run into a store that does not have it. */
export async function unpackRun(store: RunStore, packed: PackedRun): Promise<void> {
  const { run, chain, position, checkpoints, entries } = packed
  const lease = await store.lease(run, LEASE_MS)
  try {
    for (const [at, id] of chain.entries()) await store.putBlob(id, fromBase64(checkpoints[at] ?? ''))
    await store.append(run, 0, entries.map(fromBase64), lease)
    await store.setHead(run, { version: 1, chain, position, summary: new Uint8Array() }, lease)
  } finally {
    await lease.release()
  }
}
