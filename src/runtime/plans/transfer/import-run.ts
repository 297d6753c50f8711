/**
 * Takes a run of a plan over into a store, under its own name: its entries are authenticated for it.
 *
 * Invariants
 * 1. All of it is read as it would be in a store, before anything is written: chain, MACs, events, plan, image, blobs, and that
 *    everything which the journal names is on a list.
 * 2. It is there whole or not at all: its journal comes last, at once.
 * 3. It is read-only until somebody resumes it with the digest of exactly the point at which it stands.
 */
import { type Digest, sha256 } from '../../../base/digest.ts'
import { CaissonError } from '../../../base/errors.ts'
import { ENDED } from '../../../graph/run/transitions.ts'
import { isRunName } from '../../check-options.ts'
import { encodePlanSummary, type PlanSummary } from '../../plan-summary.ts'
import type { RunOwner } from '../../run-owner.ts'
import type { WatchedStore } from '../../watched-store.ts'
import { loadImage } from '../load-image.ts'
import { cutName, isTaken, ownerOfPart } from '../part-names.ts'
import { PlanShelf } from '../plan-record.ts'
import type { PlanRunParts } from '../plan-run-parts.ts'
import { wasmOf } from '../plan-wasm.ts'
import { type History, readHistory, type Standing } from '../read-standing.ts'
import { readCut } from '../run-cut.ts'
import { RunHold } from '../run-hold.ts'
import { summaryOf } from '../run-view.ts'
import { storedOf } from '../stored-values.ts'
import { decodeExport, type ExportedLog, type ExportedRun } from './export-format.ts'
import { markImported } from './import-mark.ts'

type ImportParts = Pick<PlanRunParts, 'store' | 'sealing' | 'leaseMs' | 'inspect' | 'hostClock'>

/** What was read, and is to be written. */
export interface ReadExport {
  readonly exported: ExportedRun
  readonly standing: Standing
}

/**
 * @throws CaissonError `corrupted`, `checkpoint_refused`, `checkpoint_too_large`, `invalid_argument` for a name that no run may have,
 *   `unsupported` for a newer version
 */
export async function readExport(
  parts: ImportParts,
  bytes: Uint8Array,
  whose: Omit<RunOwner, 'run'>,
): Promise<ReadExport> {
  const exported = decodeExport(bytes, parts.sealing)
  const { run, tenant } = exported
  if (tenant !== whose.tenant) {
    throw new CaissonError('checkpoint_refused', 'The exported run is of another trust domain.', {
      details: { differs: 'tenant' },
    })
  }
  const [own, ...others] = exported.logs.filter(({ name }) => name !== cutName(run))
  const isWhole = own?.name === run && isRunName(run) && ownerOfPart(run) === undefined
  if (!isWhole || !others.every(({ name }) => isRunName(name) && ownerOfPart(name) === run && isTaken(name)))
    throw new CaissonError('corrupted', 'The exported run has names that no part of it can have.')
  if (new Set(others.map(({ name }) => name)).size !== others.length)
    throw new CaissonError('corrupted', 'The exported run has a part twice.')
  for (const [digest, blob] of exported.blobs) await checkBlob(parts, digest, blob)
  const logs = [own, ...others]
  const store = storeOf({ ...exported, logs })
  const reading = { store, sealing: parts.sealing, plans: new PlanShelf() }
  const standing = await readHistory(reading, { ...whose, run }).catch((cause: unknown) => {
    if (!CaissonError.is(cause, 'not_found')) throw cause
    throw new CaissonError('corrupted', `The exported run lacks something: ${cause.message}`, { cause })
  })
  await loadImage(reading, { ...whose, run }, standing.head)
  checkListed(logs, exported.blobs, standing)
  return { exported: { ...exported, logs }, standing }
}

/** What is on a list is there, and what the journal names is on one: elsewhere it would be collected. */
function checkListed(
  logs: readonly ExportedLog[],
  blobs: ExportedRun['blobs'],
  { plan, events }: Pick<History, 'plan' | 'events'>,
): void {
  const listed = new Set(logs.flatMap(({ head }) => head?.chain ?? []))
  for (const digest of listed)
    if (!blobs.has(digest))
      throw new CaissonError('corrupted', `The exported run lacks ${digest}.`, { details: { digest } })
  for (const digest of [plan.digest, ...wasmOf(plan.plan), ...storedOf(events)])
    if (!listed.has(digest))
      throw new CaissonError('corrupted', `The exported run has ${digest} on no list.`, {
        details: { digest },
      })
}

/** @throws CaissonError `already_exists`, `store_conflict`, `lease_lost`, `unsupported`, `store_failed` */
export async function writeImport(parts: ImportParts, { exported, standing }: ReadExport): Promise<void> {
  const { store } = parts
  const { run, tenant, logs, blobs } = exported
  const hold = await RunHold.take(parts, run)
  const { lease } = hold
  try {
    const isCut = (await readCut(parts, { tenant, principal: '', run })) !== undefined
    if (isCut || (await store.entries(run, 0, 1)).length > 0)
      throw new CaissonError('already_exists', `There is a run "${run}" already.`, { details: { run } })
    for (const [digest, bytes] of blobs) await store.putBlob(digest, new Uint8Array(bytes))
    const [own, ...others] = logs
    for (const log of others) await writePart(hold, store, log)
    await markImported(parts, { tenant, run }, standing.end, hold)
    if (own === undefined) return
    const { chain = [], position = 0 } = own.head ?? {}
    const summary = encodePlanSummary(shownOf(standing, parts.hostClock.now()))
    const version = ((await store.head(run))?.version ?? 0) + 1
    // What the journal names is on a list before the journal is there.
    await store.setHead(run, { version, chain, position: 0, summary }, lease)
    await store.append(run, 0, copies(own.entries), lease)
    if (position === 0) return
    // By its image it is read faster. It is there without, too.
    await store.setHead(run, { version: version + 1, chain, position, summary }, lease).catch(() => {})
  } finally {
    await hold.giveBack()
  }
}

/** What has not ended stands still. */
function shownOf({ plan, state }: Standing, atMs: number): PlanSummary {
  const summary = summaryOf(plan, state, false, atMs)
  return ENDED.has(state.status ?? 'proposed') ? summary : { ...summary, status: 'frozen' }
}

/** What is there of an import that did not come to its end is of no run. */
async function removeUnfinished(hold: RunHold, store: WatchedStore, name: string): Promise<void> {
  if ((await store.head(name)) === undefined && (await store.entries(name, 0, 1)).length === 0) return
  await hold.removePart(name)
}

async function writePart(
  hold: RunHold,
  store: WatchedStore,
  { name, head, entries }: ExportedLog,
): Promise<void> {
  await removeUnfinished(hold, store, name)
  await hold.withPart(name, async (lease) => {
    if (entries.length > 0) await store.append(name, 0, copies(entries), lease)
    if (head !== undefined)
      await store.setHead(name, { version: 1, ...head, summary: new Uint8Array(head.summary) }, lease)
  })
}

/** By its bytes, or as checkpoints go by what they hold. */
async function checkBlob({ inspect }: ImportParts, digest: Digest, bytes: Uint8Array): Promise<void> {
  if (sha256(bytes) === digest) return
  const found = await inspect(new Uint8Array(bytes)).catch(() => undefined)
  if (found !== digest)
    throw new CaissonError('corrupted', `${digest} of the exported run is not what its digest says.`, {
      details: { digest },
    })
}

/** To be read as if it were in a store. */
function storeOf({ logs, blobs }: ExportedRun): WatchedStore {
  const log = (run: string): ExportedLog | undefined => logs.find(({ name }) => name === run)
  const never = async (): Promise<never> => {
    throw new CaissonError('unsupported', 'What was exported is only read.')
  }
  return {
    getBlob: async (digest) => blobs.get(digest)?.slice(),
    head: async (run) => {
      const head = log(run)?.head
      return head && { version: 1, ...head }
    },
    entries: async (run, from, most) => log(run)?.entries.slice(from, from + most) ?? [],
    putBlob: never,
    setHead: never,
    append: never,
    lease: never,
  }
}

function copies(entries: readonly Uint8Array[]): readonly Uint8Array[] {
  return entries.map((entry) => entry.slice())
}
